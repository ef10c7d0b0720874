package embeddedredis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.lockredis.server.LockredisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** Without the annotation, as the old test started its server. */
class ByHandTest {
    LockredisServer redis;

    @BeforeEach
    void start() {
        redis = LockredisServer.builder().directive("maxmemory", "64mb").start();
    }

    @AfterEach
    void stop() {
        redis.close();
    }

    @Test
    void anOrderIsStored() {
        try (Jedis jedis = new Jedis(redis.host(), redis.port())) {
            jedis.set("order:42", "shipped");
            assertEquals("shipped", jedis.get("order:42"));
        }
    }
}
