package orders;

import static org.testng.Assert.assertFalse;
import static org.testng.Assert.assertTrue;

import io.github.lockredis.server.LockredisException;
import java.lang.reflect.Method;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Test;

/** Tests that fail, but for the last two. Maven does not find them: OrdersTest runs them. */
public class Forgetful extends LockredisTest {
    @Test
    public void aForgetsALock() {
        server.command("EVAL", "redis.call('hincrby', KEYS[1], ARGV[2], 1); "
                + "redis.call('pexpire', KEYS[1], ARGV[1]); return nil;",
                "1", "order:42", "30000", "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17");
    }

    @Test
    public void bEndsTheServer() {
        try {
            server.command("SHUTDOWN");
        } catch (LockredisException e) {
            // it has ended
        }
    }

    @Test
    public void cFails() {
        assertTrue(server.locks().isEmpty());
        aForgetsALock();
        throw new IllegalStateException("the packet is empty");
    }

    @Test
    public void dCloses() {
        server.close();
    }

    @Test
    public void ePasses() {
        assertTrue(server.isRunning());
    }

    @BeforeMethod
    public void outage(Method test) {
        if (test.getName().equals("fBeginsWithAnOutage")) {
            server.stop();
        }
    }

    @Test
    public void fBeginsWithAnOutage() {
        assertFalse(server.isRunning());
    }
}
