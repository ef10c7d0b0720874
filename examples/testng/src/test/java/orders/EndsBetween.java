package orders;

import static org.testng.Assert.assertTrue;

import io.github.lockredis.server.LockredisException;
import org.testng.annotations.AfterMethod;
import org.testng.annotations.Test;

/** Tests that pass. Their class fails, because the server ends behind each of them. OrdersTest runs them. */
public class EndsBetween extends LockredisTest {
    @Test
    public void a() {
        assertTrue(server.isRunning());
    }

    @Test
    public void b() {
        a();
    }

    @AfterMethod
    public void endServer() {
        try {
            server.command("SHUTDOWN");
        } catch (LockredisException e) {
            // it has ended
        }
    }
}
