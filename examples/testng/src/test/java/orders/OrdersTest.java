package orders;

import static org.testng.Assert.assertEquals;
import static org.testng.Assert.assertNull;
import static org.testng.Assert.assertTrue;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.testng.ITestResult;
import org.testng.TestListenerAdapter;
import org.testng.TestNG;
import org.testng.annotations.Test;

/** Each test begins with an empty server, and a test that leaves a lock fails. */
public class OrdersTest extends LockredisTest {
    @Test
    public void packsAnOrder() {
        assertNull(server.command("SET", "order:42:packed", "true", "GET"));
    }

    @Test
    public void startsWithoutOrders() {
        assertNull(server.command("GET", "order:42:packed"));
    }

    @Test
    public void theRightTestFails() {
        TestListenerAdapter report = run(Forgetful.class);
        assertFailed(report, "aForgetsALock", "bEndsTheServer", "cFails", "dCloses");
        assertEquals(report.getPassedTests().size(), 2);
        assertLock(failure(report, "aForgetsALock"));
        Throwable own = failure(report, "cFails");
        assertEquals(own.getMessage(), "the packet is empty");
        String state = own.getSuppressed()[0].getMessage();
        assertTrue(state.contains("when the test failed:\n  lock order:42, ttl "), state);
        assertLock(own.getSuppressed()[1]);
        String text = failure(report, "dCloses").getMessage();
        assertTrue(text.contains("a test must not close lockredis at redis://"), text);
    }

    @Test
    public void noTestExpectsTheFailureOfTheCheck() {
        TestListenerAdapter report = run(Expecting.class);
        assertFailed(report, "aForgetsALock", "bEndsTheServer", "cThrowsNothing", "dForgetsALockInALimitOfTime");
        assertEquals(report.getPassedTests().size(), 1);
        for (ITestResult failed : report.getFailedTests()) {
            String text = failed.getThrowable().getMessage();
            assertTrue(text.contains(failed.getName().equals("bEndsTheServer") ? "ended by itself"
                    : "lock \"order:42\" is held by"), failed.getName() + ": " + text);
            assertTrue(Arrays.stream(failed.getThrowable().getStackTrace())
                    .noneMatch(frame -> frame.getMethodName().equals("invokeWithTimeout")
                            || frame.getMethodName().equals("runOne")), "a test's timeOut ends the check");
        }
        assertEquals(report.getSkippedTests().size(), 1);
        assertLock(report.getSkippedTests().get(0).getThrowable());
    }

    @Test
    public void eachEndBetweenTestsIsTold() {
        TestListenerAdapter report = run(EndsBetween.class);
        assertEquals(report.getPassedTests().size(), 2);
        assertEquals(report.getConfigurationFailures().size(), 1);
        String text = report.getConfigurationFailures().get(0).getThrowable().getMessage();
        assertTrue(text.startsWith("after the test a: lockredis at ")
                && text.contains("\nafter the test b: lockredis at "), text);
    }

    private static TestListenerAdapter run(Class<?> type) {
        TestListenerAdapter report = new TestListenerAdapter();
        TestNG tests = new TestNG(false);
        tests.setTestClasses(new Class<?>[] {type});
        tests.addListener(report);
        tests.setVerbose(0);
        tests.run();
        return report;
    }

    private static void assertFailed(TestListenerAdapter report, String... names) {
        assertEquals(report.getConfigurationFailures().size(), 0);
        assertEquals(report.getFailedTests().stream().map(ITestResult::getName).sorted()
                .collect(Collectors.toList()), Arrays.asList(names));
    }

    private static Throwable failure(TestListenerAdapter report, String name) {
        return report.getFailedTests().stream().filter(test -> test.getName().equals(name))
                .findFirst().get().getThrowable();
    }

    private static void assertLock(Throwable failure) {
        assertTrue(failure.getMessage().contains("lock \"order:42\" is held by"), failure.toString());
    }
}
