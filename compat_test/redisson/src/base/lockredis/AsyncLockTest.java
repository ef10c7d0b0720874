package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;

/** The futures of RLock. A call belongs to the calling thread unless it names another. */
class AsyncLockTest extends Scenario {
    private final RLock lock = client.getLock(key);

    @Test
    void lockAndUnlock() throws Exception {
        done(lock.lockAsync());
        assertTrue(lock.isHeldByCurrentThread());
        done(lock.lockAsync(5, TimeUnit.SECONDS));
        assertEquals(2, lock.getHoldCount());
        done(lock.unlockAsync());
        done(lock.unlockAsync());
        assertFalse(lock.isLocked());
    }

    @Test
    void tryLockOfTakenLock() throws Exception {
        Actor other = actor();
        other.tell(lock::lock);
        assertFalse(done(lock.tryLockAsync()));
        // The time includes the subscription, which fails when it takes longer.
        assertFalse(done(lock.tryLockAsync(2_000, TimeUnit.MILLISECONDS)));
        RFuture<Boolean> waiting = lock.tryLockAsync(5_000, 1_000, TimeUnit.MILLISECONDS);
        other.tell(lock::unlock);
        assertTrue(done(waiting));
        done(lock.forceUnlockAsync());
        assertFalse(lock.isLocked());
    }

    private static <T> T done(RFuture<T> future) throws Exception {
        return future.get(10, TimeUnit.SECONDS);
    }
}
