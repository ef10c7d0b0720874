package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.client.codec.StringCodec;
import redis.clients.jedis.Jedis;

/** RLock with several owners, in this process and in a second one. */
class LockWaitTest extends Scenario {
    private static final int THREADS = 4;
    private static final int TIMES = 25;

    @Test
    void unlockWakesWaiterThroughPubSub() throws Exception {
        RLock lock = client.getLock(key);
        Jedis jedis = observer();
        Actor waiter = actor();
        lock.lock();
        Future<Void> waiting = waiter.beginStep(lock::lock);
        Await.until("the waiter's subscription", 5_000, () -> Channels.subscribers(jedis, Channels.lock(key)) == 1);
        // Before the lease ends, long after this test, only a message can wake the waiter.
        jedis.pexpire(key, 600_000);
        assertFalse(waiting.isDone());
        lock.unlock();
        Await.until("the waiter's lock", 5_000, waiting::isDone);
        assertTrue(waiter.ask(lock::isHeldByCurrentThread));
        waiter.tell(lock::unlock);
        Await.until("the end of the subscription", 5_000,
                () -> Channels.subscribers(jedis, Channels.lock(key)) == 0);
    }

    @Test
    void waiterOfAnotherProcessIsWoken() throws Exception {
        Peer peer = closing(Peer.start(server));
        RLock lock = client.getLock(key);
        Jedis jedis = observer();
        peer.ask("a", "lock", "lock", key);
        assertFalse(lock.tryLock());
        Actor waiter = actor();
        Future<Void> waiting = waiter.beginStep(lock::lock);
        Await.until("the waiter's subscription", 5_000, () -> Channels.subscribers(jedis, Channels.lock(key)) == 1);
        peer.ask("a", "unlock", "lock", key);
        Actor.result(waiting);
        assertEquals("false", peer.ask("a", "try", "lock", key, "0"));
        waiter.tell(lock::unlock);
    }

    @Test
    void manyThreadsOfTwoProcessesCountExactly() throws Exception {
        Peer peer = closing(Peer.start(server));
        String counter = key + ":counter";
        List<Future<String>> counts = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            String[] step = {"count", "lock", key, counter, String.valueOf(TIMES)};
            counts.add(peer.begin("t" + i, step));
            counts.add(actor().begin(() -> Steps.run(client, step)));
        }
        for (Future<String> count : counts) {
            assertEquals("done", Actor.result(count));
        }
        assertEquals(String.valueOf(2 * THREADS * TIMES), client.getBucket(counter, StringCodec.INSTANCE).get());
        assertFalse(observer().exists(key));
    }
}
