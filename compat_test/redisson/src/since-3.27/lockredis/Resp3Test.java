package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RLock;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RedissonClient;
import org.redisson.config.Protocol;
import redis.clients.jedis.Jedis;

/** Both protocols, used one after the other by the same scenarios. */
class Resp3Test extends Scenario {
    private RedissonClient speaking(Protocol protocol) {
        return closing(Clients.open(Server.shared(), config -> config.setProtocol(protocol)));
    }

    @ParameterizedTest
    @EnumSource(Protocol.class)
    void locksWork(Protocol protocol) throws Exception {
        RedissonClient own = speaking(protocol);
        Jedis jedis = observer();
        Actor other = actor();
        for (String kind : new String[] {"lock", "fair", "write"}) {
            RLock lock = Steps.lock(own, kind, key + kind);
            lock.lock();
            assertFalse(other.ask(() -> lock.tryLock()));
            Future<Void> waiting = other.beginStep(lock::lock);
            lock.unlock();
            Actor.result(waiting);
            other.tell(lock::unlock);
            assertFalse(jedis.exists(key + kind));
        }
        RLock leased = own.getLock(key);
        other.tell(() -> leased.lock(300, TimeUnit.MILLISECONDS));
        assertTrue(leased.tryLock(10, TimeUnit.SECONDS));
        leased.unlock();
    }

    @ParameterizedTest
    @EnumSource(Protocol.class)
    void objectsAndTopicsWork(Protocol protocol) throws Exception {
        RedissonClient own = speaking(protocol);
        own.getMap(key).put("a", "1");
        assertEquals("1", own.getMap(key).readAllMap().get("a"));
        RScoredSortedSet<String> scores = own.getScoredSortedSet(key + ":z");
        scores.add(1.5, "x");
        assertEquals(1.5, scores.getScore("x"));
        assertEquals(1.5, scores.entryRange(0, -1).iterator().next().getScore());
        own.getSet(key + ":s").add("m");
        assertTrue(own.getSet(key + ":s").readAll().contains("m"));
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        Api.psubscribe(own, key + ":t*", (channel, message) -> heard.add(message));
        Api.publish(own, key + ":topic", "hello");
        Await.until("the message", 5_000, () -> heard.contains("hello"));
        Future<Object> taking = actor().begin(() -> own.getBlockingQueue(key + ":q").take());
        own.getBlockingQueue(key + ":q").put("e");
        assertEquals("e", Actor.result(taking));
    }
}
