package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.Jedis;

/** A server whose script cache is flushed between two calls. */
class ScriptFlushTest extends Scenario {
    private static final Server OWN = Server.start();
    private final RedissonClient forgotten = closing(Clients.open(OWN));
    private final Jedis jedis = closing(OWN.observe());

    @AfterAll
    static void stop() {
        OWN.close();
    }

    @Test
    void everyCallSurvivesIt() {
        RLock lock = forgotten.getLock(key);
        lock.lock();
        jedis.scriptFlush();
        lock.lock();
        assertEquals(2, lock.getHoldCount());
        jedis.scriptFlush();
        lock.unlock();
        jedis.scriptFlush();
        lock.unlock();
        assertFalse(lock.isLocked());
    }

    @Test
    void waiterSurvivesIt() throws Exception {
        RLock lock = forgotten.getFairLock(key);
        Actor waiter = actor();
        lock.lock();
        Future<Void> waiting = waiter.beginStep(lock::lock);
        Await.until("the waiter's place", 5_000, () -> jedis.llen(Channels.fairQueue(key)) == 1);
        jedis.scriptFlush();
        lock.unlock();
        Actor.result(waiting);
        jedis.scriptFlush();
        waiter.tell(lock::unlock);
        assertTrue(lock.tryLock());
        lock.unlock();
    }
}
