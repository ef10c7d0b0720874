package testcontainers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.lockredis.server.LockredisServer;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

class SharedServerTest {
    /** One server for all test classes, in place of a singleton container. It ends with the JVM. */
    static final class Redis {
        static final LockredisServer SERVER = LockredisServer.start();
    }

    @Test
    void allClassesShareTheServer() {
        Redis.SERVER.flush();
        try (Jedis jedis = new Jedis(Redis.SERVER.host(), Redis.SERVER.port())) {
            jedis.set("order:42", "shipped");
        }
        // in place of execInContainer("redis-cli", "GET", "order:42")
        assertEquals("shipped", Redis.SERVER.command("GET", "order:42"));
    }
}
