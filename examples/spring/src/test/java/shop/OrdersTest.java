package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.spring.AutoConfigureLockredis;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest
@AutoConfigureLockredis
class OrdersTest {
    @Autowired Orders orders;
    @Autowired LockredisServer server;

    @Test
    void packingReleasesTheLock() {
        orders.pack("42");
        assertEquals("1", server.command("GET", "orders:packed"));
        assertTrue(server.locks().isEmpty());
    }
}
