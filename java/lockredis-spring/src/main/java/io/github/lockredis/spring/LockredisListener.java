package io.github.lockredis.spring;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/**
 * Empties the server before tests, and checks after each test that no lock is left. Spring loads it for all
 * test classes.
 */
final class LockredisListener extends AbstractTestExecutionListener {
    private static final String RUNNING = LockredisListener.class.getName();

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
            use.prepare(true);
            noteEnd(use);
        }
    }

    @Override
    public void beforeTestMethod(TestContext test) {
        AutoConfigureLockredis rules = annotation(test);
        if (rules != null) {
            ServerUse use = use(test.getApplicationContext());
            boolean flush = rules.flush() == FlushMode.BEFORE_EACH;
            test.setAttribute(RUNNING, use.begin(flush, rules.leaks() == LeakMode.FAIL));
            noteEnd(use);
        }
    }

    @Override
    public void afterTestMethod(TestContext test) {
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
                + "\nIf it is meant to stay: @AutoConfigureLockredis(leaks = LeakMode.ALLOWED)");
        if (test.getTestException() == null) {
            throw error;
        }
        test.getTestException().addSuppressed(error); // the lock is a consequence, as a rule
    }

    private static ServerUse use(ApplicationContext context) {
        return context.getBean(ServerUse.BEAN, ServerUse.class);
    }
}
