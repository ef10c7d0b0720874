package orders;

import static org.testng.Assert.assertTrue;

import io.github.lockredis.server.LockredisException;
import java.util.UUID;
import org.testng.SkipException;
import org.testng.annotations.Test;

/** Tests that expect an exception. All but the last two fail. OrdersTest runs them. */
public class Expecting extends LockredisTest {
    private void forgetALock() {
        server.command("SET", "order:42", UUID.randomUUID().toString(), "NX", "PX", "30000");
    }

    @Test(expectedExceptions = IllegalStateException.class)
    public void aForgetsALock() {
        forgetALock();
        throw new IllegalStateException("the packet is empty");
    }

    @Test(expectedExceptions = IllegalStateException.class)
    public void bEndsTheServer() {
        try {
            server.command("SHUTDOWN");
        } catch (LockredisException e) {
            throw new IllegalStateException("the packet is empty");
        }
    }

    @Test(expectedExceptions = AssertionError.class)
    public void cThrowsNothing() {
        forgetALock();
    }

    @Test(timeOut = 60_000)
    public void dForgetsALockInALimitOfTime() {
        forgetALock();
    }

    @Test
    public void eSkipsItself() {
        forgetALock();
        throw new SkipException("later");
    }

    @Test(expectedExceptions = AssertionError.class)
    public void fPasses() {
        assertTrue(server.locks().isEmpty());
        throw new AssertionError("expected");
    }
}
