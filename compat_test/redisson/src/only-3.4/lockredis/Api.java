package lockredis;

import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.redisson.api.LocalCachedMapOptions;
import org.redisson.api.RLocalCachedMap;
import org.redisson.api.RLock;
import org.redisson.api.RPatternTopic;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The calls that changed between 3.4.1 and 3.16.0, in the earlier form. */
final class Api {
    private Api() {
    }

    /** Addresses have no scheme in 3.4.1. */
    static String address(String url) {
        return url.substring("redis://".length());
    }

    static String readWriteChannel(String key) {
        return "redisson_rwlock__{" + key + "}";
    }

    /** The watchdog of 3.4.1 has 30 s and no setting. */
    static void watchdog(Config config, long millis) {
    }

    static void fairWait(Config config, long millis) {
    }

    /** A fair lock of 3.4.1 always keeps a silent waiter for 5 s. */
    static RLock fairLock(RedissonClient client, String key, long waitMs) {
        return client.getFairLock(key);
    }

    static void subscribe(RedissonClient client, String topic, Consumer<String> listener) {
        RTopic<String> t = client.getTopic(topic);
        t.addListener((channel, message) -> listener.accept(message));
    }

    static void publish(RedissonClient client, String topic, String message) {
        client.<String>getTopic(topic).publish(message);
    }

    static void unsubscribeAll(RedissonClient client, String topic) {
        client.getTopic(topic).removeAllListeners();
    }

    /** The listener receives channel and message. */
    static void psubscribe(RedissonClient client, String pattern, BiConsumer<String, String> listener) {
        RPatternTopic<String> t = client.getPatternTopic(pattern);
        t.addListener((p, channel, message) -> listener.accept(channel, message));
    }

    static void punsubscribeAll(RedissonClient client, String pattern) {
        client.getPatternTopic(pattern).removeAllListeners();
    }

    static RLocalCachedMap<String, String> localCachedMap(RedissonClient client, String name) {
        return client.getLocalCachedMap(name, LocalCachedMapOptions.defaults());
    }
}
