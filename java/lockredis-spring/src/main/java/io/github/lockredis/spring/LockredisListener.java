package io.github.lockredis.spring;

import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Logger;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/**
 * Empties the server before tests, and checks after each test that no lock is left. Spring loads it for all
 * test classes. A class that replaces Spring's default listeners adds it to its list, in front of Spring's listener of
 * transactions and behind those for {@code @DirtiesContext}. Another place fails the class.
 */
public final class LockredisListener extends AbstractTestExecutionListener {
    private static final String RUNNING = LockredisListener.class.getName();

    /** The exceptions of JUnit 5, JUnit 4 and TestNG that abort a test. */
    private static final List<String> ABORTS = Arrays.asList("org.opentest4j.TestAbortedException",
            "org.junit.internal.AssumptionViolatedException", "org.testng.SkipException");

    /** The ends of a server outside of tests. Spring makes a listener for each test class. */
    private final Queue<String> between = new ConcurrentLinkedQueue<>();

    LockredisListener() {
    }

    private static AutoConfigureLockredis annotation(TestContext test) {
        return LockredisCustomizerFactory.annotation(test.getTestClass());
    }

    /**
     * Returns a position after Spring's listener for {@code @DirtiesContext}. So the check at a test's
     * end comes before that listener closes the context.
     */
    @Override
    public int getOrder() {
        return 3500;
    }

    @Override
    public void beforeTestClass(TestContext test) {
        AutoConfigureLockredis rules = annotation(test);
        if (rules != null && rules.flush() == FlushMode.BEFORE_CLASS) {
            ServerUse use = use(test.getApplicationContext());
            use.beginClass();
            noteEnd(use);
        }
    }

    @Override
    public void beforeTestMethod(TestContext test) {
        AutoConfigureLockredis rules = annotation(test);
        if (rules != null) {
            ServerUse use = use(test.getApplicationContext());
            boolean flush = rules.flush() == FlushMode.BEFORE_EACH;
            test.setAttribute(RUNNING, use.begin(flush, rules.leaks() == LeakMode.FAIL, rules.dataKeys()));
            noteEnd(use);
        }
    }

    /** Tells what the server looks like when a test has failed, before methods behind the test change it. */
    @Override
    public void afterTestExecution(TestContext test) {
        ServerUse.Running running = (ServerUse.Running) test.getAttribute(RUNNING);
        Throwable failure = test.getTestException();
        if (running != null && failure != null && !isAbort(failure)) {
            running.describe(failure);
        }
    }

    @Override
    public void afterTestMethod(TestContext test) {
        afterTestExecution(test); // a method before the test, or behind it, may have failed
        ServerUse.Running running = (ServerUse.Running) test.removeAttribute(RUNNING);
        if (running == null) {
            return;
        }
        try {
            String leaks = running.leaks();
            String end = running.unexpectedEnd(
                    test.getTestClass().getSimpleName() + "." + test.getTestMethod().getName());
            if (end != null) { // it fails a test with a false assumption too
                throw new AssertionError(leaks == null ? end : end + "\n" + leaks);
            }
            report(test, leaks);
        } finally {
            running.end();
        }
    }

    /** Fails a class whose server has ended by itself before, between or after its tests. */
    @Override
    public void afterTestClass(TestContext test) {
        if (annotation(test) == null) {
            return;
        }
        if (test.hasApplicationContext()) {
            noteEnd(use(test.getApplicationContext()));
        }
        if (!between.isEmpty()) {
            throw new AssertionError(String.join("\n", between));
        }
    }

    private void noteEnd(ServerUse use) {
        String end = use.endOutside();
        if (end != null) {
            between.add(end);
        }
    }

    private static void report(TestContext test, String leaks) {
        if (leaks == null) {
            return;
        }
        AssertionError error = new AssertionError(leaks
                + "\nIf a lock is meant to stay, name it in @AutoConfigureLockredis: dataKeys = \"leader:*\". If all may"
                + " stay: leaks = LeakMode.ALLOWED");
        if (test.getTestException() == null) {
            throw error;
        }
        if (isAbort(test.getTestException())) { // reports do not show what it suppresses
            Logger.getLogger(LockredisListener.class.getName()).warning(test.getTestClass().getSimpleName() + "."
                    + test.getTestMethod().getName() + " is aborted, and left " + leaks);
        }
        test.getTestException().addSuppressed(error); // the lock is a consequence, as a rule
    }

    /** Reports whether a test has ended by a false assumption, of a framework that need not be there. */
    private static boolean isAbort(Throwable failure) {
        for (Class<?> type = failure.getClass(); type != null; type = type.getSuperclass()) {
            if (ABORTS.contains(type.getName())) {
                return true;
            }
        }
        return false;
    }

    private static ServerUse use(ApplicationContext context) {
        return context.getBean(ServerUse.BEAN, ServerUse.class);
    }
}
