package lockredis;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;

/** A client that asks three Sentinels where the server is, as in production. */
class SentinelTest extends Scenario {
    private static Sentinels open;
    private static Sentinels guarded;

    @BeforeAll
    static void start() {
        open = new Sentinels("");
        guarded = new Sentinels("guess");
        open.await();
        guarded.await();
    }

    @AfterAll
    static void stop() {
        open.close();
        guarded.close();
    }

    private RedissonClient client(Sentinels sentinels, String sentinelPassword) {
        Config config = new Config();
        SentinelServersConfig servers = config.useSentinelServers().setMasterName(Sentinels.MASTER)
                .addSentinelAddress(sentinels.addresses()).setPassword(Sentinels.PASSWORD).setTimeout(5_000)
                .setMasterConnectionMinimumIdleSize(2).setSlaveConnectionMinimumIdleSize(2);
        setSentinelPassword(servers, sentinelPassword);
        return closing(Redisson.create(config));
    }

    /** Releases without that setting use the server's password for a Sentinel, or none. */
    private static void setSentinelPassword(SentinelServersConfig servers, String password) {
        if (password.isEmpty()) {
            return;
        }
        try {
            Method set = SentinelServersConfig.class.getMethod("setSentinelPassword", String.class);
            set.invoke(servers, password);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private void locks(RedissonClient own) throws Exception {
        RLock lock = own.getLock(key);
        Actor other = actor();
        lock.lock();
        assertFalse(other.ask(() -> lock.tryLock()));
        Future<Void> waiting = other.beginStep(lock::lock);
        lock.unlock();
        Actor.result(waiting);
        assertTrue(lock.isLocked());
        other.tell(lock::unlock);
        assertFalse(lock.isLocked());
    }

    @Test
    void passwordOnTheServer() throws Exception {
        locks(client(open, ""));
    }

    @Test
    void passwordOnTheSentinelsToo() throws Exception {
        Release.skip("3.4.1", "3.4.1", "does not authenticate with a Sentinel");
        locks(client(guarded, "guess"));
    }

    @Test
    void wrongMasterNameIsRefused() {
        assertThrows(Exception.class, () -> {
            Config config = new Config();
            config.useSentinelServers().setMasterName("nosuch").addSentinelAddress(open.addresses())
                    .setPassword(Sentinels.PASSWORD).setTimeout(2_000).setRetryAttempts(0);
            closing(Redisson.create(config));
        });
    }
}
