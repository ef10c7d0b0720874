package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.UUID;

import org.junit.jupiter.api.Test;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.LockredisServer;

@Lockredis(dataKeys = {"idem:*", "stock"})
class PaymentsTest {
    @Test
    void remembersARequest(LockredisServer server) {
        String request = UUID.randomUUID().toString();
        assertEquals("OK", server.command("SET", "idem:1", request, "NX", "EX", "3600"));
    }
}
