package lockredis;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Several locks as one: all or none. */
class MultiLockTest extends Scenario {
    private final RLock one = client.getLock(key + ":1");
    private final RLock two = client.getLock(key + ":2");
    private final RLock three = client.getLock(key + ":3");
    private final RedissonMultiLock all = new RedissonMultiLock(one, two, three);

    @Test
    void allAreLockedAndUnlockedTogether() {
        all.lock();
        assertTrue(one.isLocked() && two.isLocked() && three.isLocked());
        all.unlock();
        assertFalse(one.isLocked() || two.isLocked() || three.isLocked());
    }

    @Test
    void oneTakenLockKeepsTheOthersFree() throws Exception {
        Actor other = actor();
        other.tell(two::lock);
        assertFalse(all.tryLock());
        assertFalse(one.isLocked());
        assertFalse(three.isLocked());
        Future<Void> waiting = actor().beginStep(() -> {
            all.lock();
            all.unlock();
        });
        other.tell(two::unlock);
        Actor.result(waiting);
    }

    @Test
    void leaseHoldsForAll() throws Exception {
        assertTrue(all.tryLock(5_000, 20_000, TimeUnit.MILLISECONDS));
        for (RLock lock : new RLock[] {one, two, three}) {
            long left = observer().pttl(lock.getName());
            assertTrue(left > 10_000 && left <= 20_000, "left " + left);
        }
        all.unlock();
        for (RLock lock : new RLock[] {one, two, three}) {
            assertFalse(observer().exists(lock.getName()));
        }
    }

    @Test
    void locksOfTwoServersAreOne() {
        Server second = closing(Server.start());
        RedissonClient there = closing(Clients.open(second));
        RLock far = there.getLock(key);
        RedissonMultiLock both = new RedissonMultiLock(one, far);
        both.lock();
        assertTrue(one.isLocked() && far.isLocked());
        both.unlock();
        assertFalse(one.isLocked() || far.isLocked());
    }
}
