package orders;

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
    private AssertionError error; // what the last test has left behind, or null
    private String ended; // the text about an end of the server between tests, or null
    private String last = "before the first test: ";

    @BeforeClass(alwaysRun = true)
    public void startServer() {
        server = LockredisServer.start();
        close = server.closeOnlyBy("LockredisTest");
    }

    @BeforeMethod(alwaysRun = true)
    public void prepareServer() {
        error = null;
        LeakCheck.prepare(server, true);
        noteEnd();
    }

    /** Runs a test method. TestNG fails the test for what this method throws. */
    @Override
    public void run(IHookCallBack test, ITestResult result) {
        LeakCheck check = LeakCheck.begin(server);
        test.runTestMethod(result);
        last = "after the test " + result.getName() + ": ";
        String leaks = check.end(true);
        String end = server.unexpectedEnd();
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
        noteEnd();
        if (ended != null) {
            throw new AssertionError(ended);
        }
    }

    private void noteEnd() {
        String end = server.unexpectedEnd();
        ended = end != null ? last + end : ended;
    }
}
