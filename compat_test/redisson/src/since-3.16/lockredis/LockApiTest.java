package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;

/** Methods that RLock got after 3.4.1. */
class LockApiTest extends Scenario {
    private final RLock lock = client.getLock(key);

    @Test
    void threadThatHoldsIsKnown() throws Exception {
        Actor other = actor();
        long id = other.ask(() -> Thread.currentThread().getId());
        other.tell(lock::lock);
        assertTrue(lock.isHeldByThread(id));
        assertFalse(lock.isHeldByThread(Thread.currentThread().getId()));
        other.tell(lock::unlock);
        assertFalse(lock.isHeldByThread(id));
    }

    @Test
    void remainingTimeIsTheLeases() {
        assertEquals(-2, lock.remainTimeToLive());
        lock.lock(20, TimeUnit.SECONDS);
        long left = lock.remainTimeToLive();
        assertTrue(left > 18_000 && left <= 20_000, "left " + left);
        lock.unlock();
    }

    @Test
    void forceUnlockTellsWhetherItFreed() {
        lock.lock();
        assertTrue(lock.forceUnlock());
        assertFalse(lock.forceUnlock());
    }

    @Test
    void unlockOfFreeOrEndedLockIsRefused() {
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
        lock.lock(200, TimeUnit.MILLISECONDS);
        Await.until("the lease's end", 5_000, () -> !lock.isLocked());
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
    }
}
