package lockredis;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A server with requirepass. */
class PasswordTest extends Scenario {
    private static final Server GUARDED = Server.start("--requirepass", "open sesame");

    @AfterAll
    static void stop() {
        GUARDED.close();
    }

    @Test
    void passwordOpens() throws Exception {
        RedissonClient knowing = closing(Clients.open(GUARDED,
                config -> config.useSingleServer().setPassword("open sesame")));
        RLock lock = knowing.getLock(key);
        Actor other = actor();
        lock.lock();
        assertFalse(other.ask(() -> lock.tryLock()));
        var waiting = other.beginStep(lock::lock);
        lock.unlock();
        Actor.result(waiting);
        assertTrue(lock.isLocked());
        other.tell(lock::unlock);
    }

    @Test
    void wrongPasswordAndNoneAreRefused() {
        assertThrows(Exception.class, () -> Clients.open(GUARDED,
                config -> config.useSingleServer().setPassword("guess").setRetryAttempts(0)));
        assertThrows(Exception.class, () -> Clients.open(GUARDED,
                config -> config.useSingleServer().setRetryAttempts(0)).getLock(key).lock());
    }
}
