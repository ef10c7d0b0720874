package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import redis.clients.jedis.Jedis;

/** FairLock: owners acquire it in request order, also across processes. */
class FairLockTest extends Scenario {
    private final RLock lock = client.getFairLock(key);

    @Test
    void fairLockIsReentrantAndExclusive() throws Exception {
        Actor other = actor();
        lock.lock();
        lock.lock();
        assertEquals(2, lock.getHoldCount());
        assertFalse(other.ask(() -> lock.tryLock()));
        lock.unlock();
        assertTrue(lock.isLocked());
        lock.unlock();
        assertFalse(lock.isLocked());
        assertNothingLeft();
    }

    @Test
    void orderOfAskingHoldsOverTwoProcesses() throws Exception {
        Peer peer = closing(Peer.start(server));
        Jedis jedis = observer();
        String list = key + ":order";
        List<Future<String>> signing = new ArrayList<>();
        List<String> asked = new ArrayList<>();
        lock.lock();
        for (int i = 0; i < 6; i++) {
            String name = (i % 2 == 0 ? "here" : "there") + i;
            String[] step = {"sign", "fair", key, list, name};
            signing.add(i % 2 == 0 ? actor().begin(() -> Steps.run(client, step)) : peer.begin("t" + i, step));
            asked.add(name);
            long queued = i + 1;
            Await.until("a place in the queue", 5_000, () -> jedis.llen(Channels.fairQueue(key)) == queued);
        }
        lock.unlock();
        for (Future<String> signed : signing) {
            assertEquals("done", Actor.result(signed));
        }
        assertEquals(asked, jedis.lrange(list, 0, -1));
        assertNothingLeft();
    }

    @Test
    void waiterThatGivesUpLeavesTheQueue() throws Exception {
        Jedis jedis = observer();
        Actor first = actor();
        Actor second = actor();
        lock.lock();
        Future<Boolean> giving = first.begin(() -> lock.tryLock(2_000, TimeUnit.MILLISECONDS));
        Await.until("the first waiter", 5_000, () -> jedis.llen(Channels.fairQueue(key)) == 1);
        Future<Void> staying = second.beginStep(lock::lock);
        Await.until("the second waiter", 5_000, () -> jedis.llen(Channels.fairQueue(key)) == 2);
        assertFalse(Actor.result(giving));
        Await.until("the first waiter's leaving", 5_000, () -> jedis.llen(Channels.fairQueue(key)) == 1);
        lock.unlock();
        Actor.result(staying);
        second.tell(lock::unlock);
        assertNothingLeft();
    }

    @Test
    void leaseOfFairLockEnds() throws Exception {
        Release.skip("3.16.0", "3.27.2", "may wait for ever for the end of a fair lock's lease");
        Actor other = actor();
        other.tell(() -> lock.lock(300, TimeUnit.MILLISECONDS));
        assertTrue(lock.tryLock(10, TimeUnit.SECONDS));
        lock.unlock();
        assertNothingLeft();
    }

    private void assertNothingLeft() {
        Jedis jedis = observer();
        assertFalse(jedis.exists(key), "the lock is left");
        assertFalse(jedis.exists(Channels.fairQueue(key)), "the queue is left");
        assertFalse(jedis.exists(Channels.fairTimeouts(key)), "the timeouts are left");
    }
}
