package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.Jedis;

/** Scripts sent as text, and scripts sent by their SHA and loaded after NOSCRIPT. */
class ScriptCacheTest extends Scenario {
    private final Server own = Server.start();

    @AfterEach
    void stop() {
        own.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lockWorksWithAndWithoutTheCache(boolean cached) throws Exception {
        RedissonClient caching = closing(Clients.open(own, config -> config.setUseScriptCache(cached)));
        try (Jedis jedis = own.observe()) {
            RLock lock = caching.getReadWriteLock(key).writeLock();
            Actor other = actor();
            lock.lock();
            Future<Void> waiting = other.beginStep(lock::lock);
            lock.unlock();
            Actor.result(waiting);
            other.tell(lock::unlock);
            assertFalse(jedis.exists(key));
            // Locks of the oldest releases never use the cache; semaphores of all releases do.
            RSemaphore semaphore = caching.getSemaphore(key);
            assertTrue(semaphore.trySetPermits(1) && semaphore.tryAcquire());
            if (cached) {
                jedis.scriptFlush();
            }
            semaphore.release();
            assertEquals(1, semaphore.availablePermits());
            String stats = jedis.info("commandstats");
            assertEquals(cached, stats.contains("cmdstat_evalsha:"), stats);
            assertTrue(cached || stats.contains("cmdstat_eval:"), stats);
        }
    }
}
