package embeddedredis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;
import redis.embedded.core.PortProvider;

class BeforeTest {
    int port;
    RedisServer redis;

    @BeforeEach
    void start() throws IOException {
        port = PortProvider.newEphemeralPortProvider().get();
        redis = RedisServer.newRedisServer().port(port).setting("maxmemory 64mb").build();
        redis.start();
    }

    @AfterEach
    void stop() throws IOException {
        redis.stop();
    }

    @Test
    void anOrderIsStored() {
        try (Jedis jedis = new Jedis("localhost", port)) {
            jedis.set("order:42", "shipped");
            assertEquals("shipped", jedis.get("order:42"));
        }
    }
}
