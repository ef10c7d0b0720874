package orders;

import io.github.lockredis.server.EndWatch;
import io.github.lockredis.server.LeakCheck;
import io.github.lockredis.server.LockredisServer;
import java.lang.reflect.InvocationTargetException;
import org.testng.IHookCallBack;
import org.testng.IHookable;
import org.testng.IInvokedMethod;
import org.testng.IInvokedMethodListener;
import org.testng.ITestResult;
import org.testng.SkipException;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Listeners;

/** A class of tests with a server of its own, which is empty before each test. */
@Listeners(LockredisTest.Unexpected.class)
public abstract class LockredisTest implements IHookable {
    protected LockredisServer server;
    private Runnable close; // of the server. Tests cannot call it
    private EndWatch ends; // of the server
    private AssertionError error; // what the last test has left behind, or null

    @BeforeClass(alwaysRun = true)
    public void startServer() {
        server = LockredisServer.start();
        close = server.closeOnlyBy("LockredisTest");
        ends = new EndWatch(server);
    }

    @BeforeMethod(alwaysRun = true)
    public void prepareServer() {
        error = null;
        LeakCheck.prepare(server, true);
        ends.begin(this);
    }

    /** Runs a test method. TestNG fails the test for what this method throws. */
    @Override
    public void run(IHookCallBack test, ITestResult result) {
        LeakCheck check = LeakCheck.begin(server);
        test.runTestMethod(result);
        String leaks = check.end(true);
        String end = ends.end(this, result.getName());
        if (leaks == null && end == null) {
            return;
        }
        error = new AssertionError(end != null ? end : leaks);
        Throwable failure = result.getThrowable();
        if (failure instanceof InvocationTargetException) {
            failure = failure.getCause();
        }
        if (failure == null || failure instanceof SkipException) {
            throw error;
        }
        failure.addSuppressed(error); // the test's own failure comes first
    }

    /** Fails a test that has left something behind, and passes by its expectedExceptions. */
    public static final class Unexpected implements IInvokedMethodListener {
        @Override
        public void afterInvocation(IInvokedMethod method, ITestResult result) {
            Object test = result.getInstance();
            if (!method.isTestMethod() || !result.isSuccess() || !(test instanceof LockredisTest)) {
                return;
            }
            AssertionError error = ((LockredisTest) test).error;
            if (error != null) {
                result.setThrowable(error);
                result.setStatus(ITestResult.FAILURE);
            }
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
