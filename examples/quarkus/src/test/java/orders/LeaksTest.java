package orders;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.lockredis.server.LockredisException;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import org.junit.jupiter.api.Test;

/** What the base class does behind a test that leaves something behind. */
@QuarkusTest
class LeaksTest extends LockredisTest {
    @Inject
    Orders orders;

    @Test
    void aForgottenLockFailsItsTest() {
        orders.lock("order:42");
        String text = assertThrows(AssertionError.class, this::end).getMessage();
        assertTrue(text.contains("lock \"order:42\" is held by"), text);
        begin();
        assertTrue(orders.pack("order:42"), "the next test finds no lock");
    }

    @Test
    void anEndOfTheServerFailsItsTest() {
        try {
            server.command("SHUTDOWN");
        } catch (LockredisException e) {
            // it has ended
        }
        String text = assertThrows(AssertionError.class, this::end).getMessage();
        assertTrue(text.contains("ended by itself"), text);
        begin();
        assertNull(server.command("GET", "order:42:packed"), "the next test has a server");
    }
}
