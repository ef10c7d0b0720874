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
        TestListenerAdapter report = new TestListenerAdapter();
        TestNG tests = new TestNG(false);
        tests.setTestClasses(new Class<?>[] {Forgetful.class});
        tests.addListener(report);
        tests.setVerbose(0);
        tests.run();
        assertEquals(report.getFailedTests().stream().map(ITestResult::getName).sorted()
                .collect(Collectors.toList()), Arrays.asList("aForgetsALock", "bEndsTheServer", "cFails"));
        assertEquals(report.getPassedTests().size(), 2);
        String text = report.getFailedTests().get(0).getThrowable().getMessage();
        assertTrue(text.contains("lock \"order:42\" is held by"), text);
        Throwable own = report.getFailedTests().get(2).getThrowable();
        assertEquals(own.getMessage(), "the packet is empty");
        text = own.getSuppressed()[0].getMessage();
        assertTrue(text.contains("lock \"order:42\" is held by"), text);
    }
}
