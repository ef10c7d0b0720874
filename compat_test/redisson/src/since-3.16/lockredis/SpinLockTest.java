package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;

/** A lock whose waiters poll instead of listening. */
class SpinLockTest extends Scenario {
    private final RLock lock = client.getSpinLock(key);

    @Test
    void waiterSpinsUntilItHasTheLock() throws Exception {
        Actor other = actor();
        lock.lock();
        lock.lock();
        assertEquals(2, lock.getHoldCount());
        Future<Void> waiting = other.beginStep(lock::lock);
        lock.unlock();
        assertFalse(waiting.isDone());
        lock.unlock();
        Actor.result(waiting);
        other.tell(lock::unlock);
        assertFalse(lock.isLocked());
    }

    @Test
    void waitAndLeaseEnd() throws Exception {
        Actor other = actor();
        other.tell(() -> lock.lock(2_000, TimeUnit.MILLISECONDS));
        assertFalse(lock.tryLock(200, TimeUnit.MILLISECONDS));
        assertTrue(lock.tryLock(10, TimeUnit.SECONDS));
        lock.unlock();
    }
}
