package jedismock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.LockredisServer;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

@Lockredis
class AfterTest {
    @Test
    void anOrderIsStored(LockredisServer redis) {
        try (Jedis jedis = new Jedis(redis.host(), redis.port())) {
            jedis.set("order:42", "shipped");
            assertEquals("shipped", jedis.get("order:42"));
        }
    }

    @Test
    void theConnectionBreaks(LockredisServer redis) {
        try (Jedis jedis = new Jedis(redis.host(), redis.port())) {
            jedis.set("order:42", "shipped");
            redis.killClients();
            assertThrows(JedisConnectionException.class, () -> jedis.get("order:42"));
        }
    }

    @Test
    void theServerIsDown(LockredisServer redis) {
        try (Jedis jedis = new Jedis(redis.host(), redis.port())) {
            redis.stop();
            assertThrows(JedisConnectionException.class, () -> jedis.get("order:42"));
        }
        redis.restart(); // on the same port
        try (Jedis jedis = new Jedis(redis.host(), redis.port())) {
            assertNull(jedis.get("order:42"));
        }
    }

    @Test
    void aScriptWithStructWorks(LockredisServer redis) {
        try (Jedis jedis = new Jedis(redis.host(), redis.port())) {
            assertEquals("\0\0\0*", jedis.eval("return struct.pack('>I', 42)"));
        }
    }

    @Test
    void ttlRoundsAsInRedis(LockredisServer redis) {
        try (Jedis jedis = new Jedis(redis.host(), redis.port())) {
            jedis.psetex("order:42", 61_300, "shipped");
            assertEquals(61, jedis.ttl("order:42"));
        }
    }
}
