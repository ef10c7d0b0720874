package lockredis;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;

/** Several values locked within one hash, by one script. */
class FasterMultiLockTest extends Scenario {
    private RLock of(Object... values) {
        return client.getMultiLock(key, List.of(values));
    }

    @Test
    void overlappingGroupsExcludeEachOther() throws Exception {
        Actor other = actor();
        RLock ab = of("a", "b");
        RLock bc = of("b", "c");
        RLock c = of("c");
        ab.lock();
        assertTrue(ab.isHeldByCurrentThread());
        assertFalse(other.ask(() -> bc.tryLock()));
        assertTrue(other.ask(() -> c.tryLock()));
        other.tell(c::unlock);
        Future<Boolean> waiting = other.begin(() -> bc.tryLock(10, TimeUnit.SECONDS));
        ab.unlock();
        assertTrue(Actor.result(waiting));
        other.tell(bc::unlock);
        assertFalse(observer().exists(key));
    }

    /**
     * A group's lease is a field and ends by the client's clock. That is a little before its key
     * expires, because the key's TTL started when the script ran. An owner that acquires the
     * group in the millisecond in which PTTL is 0 sets no new TTL and loses the key at once
     * (3.45 to 4.7, on Redis too). Another group with a longer lease prevents that.
     */
    @Test
    void leaseEndsAndReentryCounts() throws Exception {
        Actor other = actor();
        RLock ab = of("a", "b");
        RLock c = of("c");
        other.tell(() -> c.lock(30, TimeUnit.SECONDS));
        other.tell(() -> ab.lock(400, TimeUnit.MILLISECONDS));
        assertTrue(ab.tryLock(10, 20, TimeUnit.SECONDS));
        assertTrue(ab.tryLock());
        ab.unlock();
        assertTrue(ab.isLocked());
        ab.unlock();
        assertFalse(ab.isLocked());
        other.tell(c::unlock);
    }

    @Test
    void watchdogKeepsTheGroup() {
        RLock ab = of("a", "b");
        ab.lock();
        Await.elapse(Clients.WATCHDOG_MS + 700);
        assertTrue(ab.isHeldByCurrentThread());
        ab.unlock();
    }
}
