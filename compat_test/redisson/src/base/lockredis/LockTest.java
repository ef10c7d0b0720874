package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import redis.clients.jedis.Jedis;

/** RLock in one process. */
class LockTest extends Scenario {
    private final RLock lock = client.getLock(key);

    @Test
    void lockIsHeldUntilUnlock() {
        lock.lock();
        assertTrue(lock.isLocked());
        assertTrue(lock.isHeldByCurrentThread());
        lock.unlock();
        assertFalse(lock.isLocked());
        assertFalse(lock.isHeldByCurrentThread());
        assertFalse(observer().exists(key));
    }

    @Test
    void lockWithLeaseEndsByItself() {
        Jedis jedis = observer();
        lock.lock(2_500, TimeUnit.MILLISECONDS);
        long left = jedis.pttl(key);
        assertTrue(left > 0 && left <= 2_500, "left " + left);
        Await.until("the lease's end", 10_000, () -> !lock.isLocked());
        assertFalse(lock.isHeldByCurrentThread());
    }

    @Test
    void tryLockOfTakenLockFailsAtOnce() throws Exception {
        Actor other = actor();
        other.tell(lock::lock);
        assertFalse(lock.tryLock());
        assertFalse(lock.isHeldByCurrentThread());
        other.tell(lock::unlock);
        assertTrue(lock.tryLock());
        lock.unlock();
    }

    @Test
    void tryLockWithWaitGivesUpAfterIt() throws Exception {
        Actor other = actor();
        other.tell(lock::lock);
        long start = System.nanoTime();
        assertFalse(lock.tryLock(300, TimeUnit.MILLISECONDS));
        long waited = (System.nanoTime() - start) / 1_000_000;
        assertTrue(waited >= 290 && waited < 2_000, "waited " + waited + " ms");
        other.tell(lock::unlock);
    }

    @Test
    void tryLockWithWaitAndLeaseHasBoth() throws Exception {
        Actor other = actor();
        other.tell(() -> lock.lock(200, TimeUnit.MILLISECONDS));
        assertTrue(lock.tryLock(10_000, 400, TimeUnit.MILLISECONDS));
        assertTrue(observer().pttl(key) <= 400);
        Await.until("the lease's end", 5_000, () -> !lock.isLocked());
    }

    @Test
    void lockIsReentrantAndCountsHolds() throws Exception {
        Actor other = actor();
        lock.lock();
        lock.lock();
        assertTrue(lock.tryLock());
        assertEquals(3, lock.getHoldCount());
        lock.unlock();
        lock.unlock();
        assertEquals(1, lock.getHoldCount());
        assertFalse(other.ask(() -> lock.tryLock()));
        assertEquals(0, other.ask(lock::getHoldCount));
        lock.unlock();
        assertEquals(0, lock.getHoldCount());
        assertTrue(other.ask(() -> lock.tryLock()));
        other.tell(lock::unlock);
    }

    @Test
    void unlockByAnotherThreadIsRefused() throws Exception {
        Actor other = actor();
        lock.lock();
        assertThrows(IllegalMonitorStateException.class, () -> other.tell(lock::unlock));
        assertTrue(lock.isHeldByCurrentThread());
        lock.unlock();
    }

    @Test
    void forceUnlockFreesWhatAnotherThreadHolds() throws Exception {
        Actor other = actor();
        other.tell(lock::lock);
        other.tell(lock::lock);
        lock.forceUnlock();
        assertFalse(lock.isLocked());
        assertFalse(other.ask(lock::isHeldByCurrentThread));
        assertTrue(lock.tryLock());
        lock.unlock();
    }

    @Test
    void interruptedWaiterLeaves() throws Exception {
        Actor other = actor();
        lock.lock();
        Thread[] waiter = new Thread[1];
        var waiting = other.beginStep(() -> {
            waiter[0] = Thread.currentThread();
            lock.lockInterruptibly();
        });
        // Interrupt between two tries: a running try may still acquire the lock after the
        // interrupt.
        Await.until("the waiter's rest", 5_000, () -> waiter[0] != null && rests(waiter[0]));
        waiter[0].interrupt();
        Exception end = assertThrows(Exception.class, () -> Actor.result(waiting));
        // Some releases wrap the exception when a command is running at the interrupt.
        assertTrue(end.toString().contains("InterruptedException"), end.toString());
        lock.unlock();
        assertFalse(lock.isLocked());
    }

    /** Waits for a message or the lease's end, not for a reply. */
    private static boolean rests(Thread waiter) {
        return Arrays.stream(waiter.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(Semaphore.class.getName()));
    }
}
