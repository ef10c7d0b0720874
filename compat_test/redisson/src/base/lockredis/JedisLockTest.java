package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/** Plain locks as users write them with Jedis 3.6.0. */
class JedisLockTest extends Scenario {
    private static final String COMPARE_AND_DELETE =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";
    private final Jedis one = closing(Server.shared().observe());
    private final Jedis two = closing(Server.shared().observe());

    @Test
    void setnxWithExpireLocksOnceAndEnds() {
        assertEquals(1, one.setnx(key, "one"));
        assertEquals(1, one.expire(key, 3L));
        assertEquals(0, two.setnx(key, "two"));
        assertTrue(two.pttl(key) > 0);
        Await.until("the expiry", 10_000, () -> two.setnx(key, "two") == 1);
        assertEquals(-1, two.ttl(key));
        assertEquals(1, two.del(key));
    }

    @Test
    void setNxPxLocksOnceAndEnds() {
        assertEquals("OK", one.set(key, "one", SetParams.setParams().nx().px(2_500)));
        assertNull(two.set(key, "two", SetParams.setParams().nx().px(1_000)));
        assertEquals("one", two.get(key));
        Await.until("the expiry", 10_000,
                () -> "OK".equals(two.set(key, "two", SetParams.setParams().nx().px(60_000))));
        assertNull(one.set(key, "one", SetParams.setParams().nx().px(1_000)));
        two.del(key);
    }

    @Test
    void scriptDeletesOnlyItsOwnersLock() {
        one.set(key, "one", SetParams.setParams().nx().px(60_000));
        assertEquals(0L, two.eval(COMPARE_AND_DELETE, List.of(key), List.of("two")));
        assertTrue(one.exists(key));
        String sha = one.scriptLoad(COMPARE_AND_DELETE);
        assertEquals(1L, one.evalsha(sha, List.of(key), List.of("one")));
        assertFalse(one.exists(key));
    }
}
