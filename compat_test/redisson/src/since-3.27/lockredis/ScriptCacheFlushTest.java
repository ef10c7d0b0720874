package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.Jedis;

/**
 * A client that sends scripts by their SHA, and a server whose script cache is flushed. Releases
 * before 3.27 fail on NOSCRIPT.
 */
class ScriptCacheFlushTest extends Scenario {
    @Test
    void forgottenScriptsAreLoadedAgain() {
        Server own = closing(Server.start());
        Jedis jedis = closing(own.observe());
        RedissonClient caching = closing(Clients.open(own, config -> config.setUseScriptCache(true)));
        for (String kind : new String[] {"lock", "fair", "read", "write"}) {
            RLock lock = Steps.lock(caching, kind, key + kind);
            lock.lock();
            jedis.scriptFlush();
            lock.lock();
            jedis.scriptFlush();
            assertEquals(2, lock.getHoldCount());
            lock.unlock();
            jedis.scriptFlush();
            lock.unlock();
            assertFalse(jedis.exists(key + kind));
        }
    }
}
