package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;

/** RedLock: a majority of independent servers decides. */
class RedLockTest extends Scenario {
    private final Server[] servers = new Server[3];
    private final RLock[] locks = new RLock[3];

    private RedissonRedLock majority() {
        for (int i = 0; i < servers.length; i++) {
            servers[i] = closing(Server.start());
            locks[i] = closing(Clients.open(servers[i], config -> config.useSingleServer()
                    .setConnectTimeout(2_000).setTimeout(2_000).setRetryAttempts(1))).getLock(key);
        }
        return new RedissonRedLock(locks);
    }

    private long locked() {
        long n = 0;
        for (RLock lock : locks) {
            n += lock.isLocked() ? 1 : 0;
        }
        return n;
    }

    @Test
    void allServersAreLocked() {
        RedissonRedLock lock = majority();
        lock.lock();
        assertEquals(3, locked());
        lock.unlock();
        assertEquals(0, locked());
    }

    @Test
    void twoOfThreeAreEnoughAndOneIsNot() throws Exception {
        RedissonRedLock lock = majority();
        Actor other = actor();
        other.tell(locks[0]::lock);
        assertTrue(lock.tryLock());
        lock.unlock();
        other.tell(locks[1]::lock);
        assertFalse(lock.tryLock());
        assertFalse(locks[2].isLocked());
    }

    @Test
    void oneServerMayBeDown() throws Exception {
        RedissonRedLock lock = majority();
        servers[2].stop();
        assertTrue(lock.tryLock(8_000, 30_000, TimeUnit.MILLISECONDS));
        assertTrue(locks[0].isLocked() && locks[1].isLocked());
        lock.unlock();
        assertFalse(locks[0].isLocked() || locks[1].isLocked());
    }
}
