package orders;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import org.junit.jupiter.api.Test;

@QuarkusTest
class OrdersTest extends LockredisTest {
    @Inject
    Orders orders;

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
