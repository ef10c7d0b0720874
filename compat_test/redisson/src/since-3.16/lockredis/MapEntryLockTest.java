package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RMap;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;

/** Locks that belong to one entry of a map. */
class MapEntryLockTest extends Scenario {
    private final RMap<String, String> map = client.getMap(key);

    @Test
    void locksOfTwoEntriesAreTwo() throws Exception {
        Actor other = actor();
        RLock a = map.getLock("a");
        RLock b = map.getFairLock("b");
        a.lock();
        assertTrue(other.ask(() -> b.tryLock(1, TimeUnit.SECONDS)));
        Future<Void> waiting = other.beginStep(a::lock);
        a.unlock();
        Actor.result(waiting);
        other.tell(a::unlock);
        other.tell(b::unlock);
        assertFalse(a.isLocked() || b.isLocked());
    }

    @Test
    void entryHasEverySynchronizer() throws Exception {
        Actor other = actor();
        RReadWriteLock both = map.getReadWriteLock("a");
        both.readLock().lock();
        assertFalse(other.ask(() -> both.writeLock().tryLock()));
        both.readLock().unlock();
        assertTrue(map.getSemaphore("a").trySetPermits(1));
        assertTrue(map.getSemaphore("a").tryAcquire());
        RPermitExpirableSemaphore permits = map.getPermitExpirableSemaphore("a");
        assertTrue(permits.trySetPermits(1));
        permits.release(permits.acquire());
        assertTrue(map.getCountDownLatch("a").trySetCount(1));
        map.getCountDownLatch("a").countDown();
        assertEquals(0, map.getCountDownLatch("a").getCount());
    }
}
