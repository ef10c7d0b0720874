package embeddedredis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.lockredis.junit5.Lockredis;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

@Lockredis(directives = "maxmemory 64mb")
class AfterTest {
    @Lockredis int port;

    @Test
    void anOrderIsStored() {
        try (Jedis jedis = new Jedis("localhost", port)) {
            jedis.set("order:42", "shipped");
            assertEquals("shipped", jedis.get("order:42"));
        }
    }
}
