package orders;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.LockredisServer;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import io.micronaut.test.support.TestPropertyProvider;
import jakarta.inject.Inject;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@Lockredis // above MicronautTest, which needs the server's address
@MicronautTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OrdersTest implements TestPropertyProvider {
    @Lockredis
    LockredisServer server;

    @Inject
    Orders orders;

    @Override
    public Map<String, String> getProperties() {
        return Map.of("redis.uri", server.uri());
    }

    @Test
    void packsAnOrder() {
        assertTrue(orders.pack("order:42"));
        assertTrue(server.locks().isEmpty());
    }

    @Test
    void leavesALockedOrder() {
        String token = orders.lock("order:42");
        assertFalse(orders.pack("order:42"));
        assertNull(server.command("GET", "order:42:packed"));
        orders.unlock("order:42", token);
    }
}
