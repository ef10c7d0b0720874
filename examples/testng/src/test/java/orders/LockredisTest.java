package orders;

import io.github.lockredis.server.EndWatch;
import io.github.lockredis.server.LeakCheck;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.ServerState;
import org.testng.IInvokedMethod;
import org.testng.IInvokedMethodListener;
import org.testng.ITestResult;
import org.testng.SkipException;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Listeners;

/** A class of tests with a server of its own, which is empty before each test. */
@Listeners(LockredisTest.Check.class)
public abstract class LockredisTest {
    protected LockredisServer server;
    private Runnable close; // of the server. Tests cannot call it
    private EndWatch ends; // of the server
    private LeakCheck check; // of the test that runs, or null

    @BeforeClass(alwaysRun = true)
    public void startServer() {
        server = LockredisServer.start();
        close = server.closeOnlyBy("LockredisTest");
        ends = new EndWatch(server);
    }

    @BeforeMethod(alwaysRun = true)
    public void prepareServer() {
        check = null;
        LeakCheck.prepare(server, true);
        ends.begin(this);
    }

    /**
     * Fails a test that has left something behind. It looks on TestNG's thread, when the test has its result. So a
     * test's timeOut does not end it, and expectedExceptions do not hide it.
     */
    public static final class Check implements IInvokedMethodListener {
        @Override
        public void beforeInvocation(IInvokedMethod method, ITestResult result) {
            LockredisTest test = test(method, result);
            if (test != null) {
                test.check = LeakCheck.begin(test.server);
            }
        }

        @Override
        public void afterInvocation(IInvokedMethod method, ITestResult result) {
            LockredisTest test = test(method, result);
            if (test == null) {
                return;
            }
            Throwable failure = result.getThrowable();
            if (failure != null && !result.isSuccess() && !(failure instanceof SkipException)) {
                ServerState.addTo(failure, test.server); // who holds what, before the data is deleted
            }
            String leaks = test.check == null ? null : test.check.end(true);
            String end = test.ends.end(test, result.getName());
            if (leaks == null && end == null) {
                return;
            }
            AssertionError error = new AssertionError(end != null ? end : leaks);
            if (failure == null || result.isSuccess() || failure instanceof SkipException) {
                result.setThrowable(error);
                result.setStatus(ITestResult.FAILURE);
            } else {
                failure.addSuppressed(error); // the test's own failure comes first
            }
        }

        /** Returns the test that a method is of. Null: it is no test, has no server, or is skipped. */
        private static LockredisTest test(IInvokedMethod method, ITestResult result) {
            return method.isTestMethod() && result.getStatus() != ITestResult.SKIP
                    && result.getInstance() instanceof LockredisTest ? (LockredisTest) result.getInstance() : null;
        }
    }

    @AfterClass(alwaysRun = true)
    public void closeServer() {
        close.run();
        String ended = ends.outside();
        if (ended != null) {
            throw new AssertionError(ended);
        }
    }
}
