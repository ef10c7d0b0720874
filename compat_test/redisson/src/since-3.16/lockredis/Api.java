package lockredis;

import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.redisson.Redisson;
import org.redisson.RedissonFairLock;
import org.redisson.api.LocalCachedMapOptions;
import org.redisson.api.RLocalCachedMap;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.command.CommandAsyncExecutor;
import org.redisson.config.Config;

/** The calls that changed between 3.4.1 and 3.16.0, in the later form. */
final class Api {
    private Api() {
    }

    static String address(String url) {
        return url;
    }

    static String readWriteChannel(String key) {
        return "redisson_rwlock:{" + key + "}";
    }

    static void watchdog(Config config, long millis) {
        config.setLockWatchdogTimeout(millis);
    }

    /**
     * Sets how long a fair lock keeps a silent waiter in its queue, in releases with that
     * setting (4.x).
     */
    static void fairWait(Config config, long millis) {
        try {
            Config.class.getMethod("setFairLockWaitTimeout", long.class).invoke(config, millis);
        } catch (ReflectiveOperationException e) {
            // Before 4.x: see fairLock.
        }
    }

    /**
     * A fair lock that keeps a silent waiter in its queue for waitMs: set by its constructor
     * (3.x) or its client's {@link #fairWait}.
     */
    static RLock fairLock(RedissonClient client, String key, long waitMs) {
        try {
            return RedissonFairLock.class.getConstructor(CommandAsyncExecutor.class, String.class, long.class)
                    .newInstance(((Redisson) client).getCommandExecutor(), key, waitMs);
        } catch (NoSuchMethodException e) {
            return client.getFairLock(key);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static void subscribe(RedissonClient client, String topic, Consumer<String> listener) {
        client.getTopic(topic).addListener(String.class, (channel, message) -> listener.accept(message));
    }

    static void publish(RedissonClient client, String topic, String message) {
        client.getTopic(topic).publish(message);
    }

    static void unsubscribeAll(RedissonClient client, String topic) {
        client.getTopic(topic).removeAllListeners();
    }

    /** The listener receives channel and message. */
    static void psubscribe(RedissonClient client, String pattern, BiConsumer<String, String> listener) {
        client.getPatternTopic(pattern).addListener(String.class,
                (p, channel, message) -> listener.accept(channel.toString(), message));
    }

    static void punsubscribeAll(RedissonClient client, String pattern) {
        client.getPatternTopic(pattern).removeAllListeners();
    }

    static RLocalCachedMap<String, String> localCachedMap(RedissonClient client, String name) {
        return client.getLocalCachedMap(name, LocalCachedMapOptions.defaults());
    }
}
