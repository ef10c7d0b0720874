package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RFencedLock;

/** A lock with a token that grows with every acquisition. */
class FencedLockTest extends Scenario {
    private final RFencedLock lock = client.getFencedLock(key);

    @Test
    void tokensRise() throws Exception {
        Actor other = actor();
        Long first = lock.lockAndGetToken();
        assertEquals(first, lock.getToken());
        Long again = lock.tryLockAndGetToken();
        assertTrue(again > first);
        assertEquals(2, lock.getHoldCount());
        Future<Long> waiting = other.begin(() -> lock.tryLockAndGetToken(10, TimeUnit.SECONDS));
        lock.unlock();
        lock.unlock();
        Long second = Actor.result(waiting);
        assertTrue(second > again);
        other.tell(lock::unlock);
        assertFalse(lock.isLocked());
    }

    @Test
    void leaseEnds() throws Exception {
        // lockAndGetToken with a lease cannot be used here: its watchdog renews the lease
        // anyway.
        Actor other = actor();
        Long first = other.ask(() -> lock.tryLockAndGetToken(0, 300, TimeUnit.MILLISECONDS));
        Long second = lock.tryLockAndGetToken(10, 5, TimeUnit.SECONDS);
        assertTrue(second > first);
        lock.unlock();
    }
}
