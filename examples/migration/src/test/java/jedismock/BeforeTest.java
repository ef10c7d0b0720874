package jedismock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.github.fppt.jedismock.RedisServer;
import com.github.fppt.jedismock.server.ServiceOptions;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

class BeforeTest {
    RedisServer redis;

    @BeforeEach
    void start() throws IOException {
        redis = RedisServer.newRedisServer().start();
    }

    @AfterEach
    void stop() throws IOException {
        redis.stop();
    }

    @Test
    void anOrderIsStored() {
        try (Jedis jedis = new Jedis(redis.getHost(), redis.getBindPort())) {
            jedis.set("order:42", "shipped");
            assertEquals("shipped", jedis.get("order:42"));
        }
    }

    @Test
    void theConnectionBreaks() {
        redis.setOptions(ServiceOptions.executeOnly(1));
        try (Jedis jedis = new Jedis(redis.getHost(), redis.getBindPort())) {
            jedis.set("order:42", "shipped");
            assertThrows(JedisConnectionException.class, () -> jedis.get("order:42"));
        }
    }

    @Test
    void aScriptWithStructFails() {
        int patience = 60_000; // ms: its first script is slow
        try (Jedis jedis = new Jedis(redis.getHost(), redis.getBindPort(), patience)) {
            assertThrows(JedisDataException.class, () -> jedis.eval("return struct.pack('>I', 42)"));
        }
    }

    @Test
    void ttlRoundsUp() {
        try (Jedis jedis = new Jedis(redis.getHost(), redis.getBindPort())) {
            jedis.psetex("order:42", 61_400, "shipped");
            assertEquals(62, jedis.ttl("order:42")); // Redis answers 61
        }
    }
}
