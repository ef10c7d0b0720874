package io.github.lockredis.junit4;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;
import static org.junit.Assume.assumeTrue;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.FixMethodOrder;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.ExternalResource;
import org.junit.rules.RuleChain;
import org.junit.rules.TestRule;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runners.MethodSorters;
import org.junit.runners.model.Statement;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisException;
import io.github.lockredis.server.LockredisServer;

/** A server that ends by itself fails the test, or the class. The next test has a new server. */
public class UnexpectedEndTest {
    private static final String END = " ended by itself with exit code 0. A test calls stop() for an"
            + " outage. Its log ends with:\n  | ";
    private static final String DURING = "lockredis at redis://";

    /** Ends the process as a bug in it would. */
    static void end(LockredisServer server) {
        try {
            server.command("SHUTDOWN");
        } catch (LockredisException e) {
            assertTrue(e.getMessage(), e.getMessage().contains("has ended by itself"));
        }
    }

    private static void assertEnd(String start, Throwable failure) {
        assertEquals(AssertionError.class, failure.getClass());
        String text = failure.getMessage();
        assertTrue(text, text.startsWith(start) && text.contains(END));
    }

    private static List<Failure> run(Class<?> type, int failures) {
        List<Failure> found = JUnitCore.runClasses(type).getFailures();
        assertEquals(found.toString(), failures, found.size());
        return found;
    }

    private static String assertClassFails(Class<?> type, String when) {
        Failure failure = run(type, 1).get(0);
        assertNull(failure.getDescription().getMethodName());
        assertEnd(when + ": " + DURING, failure.getException());
        return failure.getMessage();
    }

    @Test
    public void anEndDuringATestFailsItOnly() {
        List<Failure> failures = run(During.class, 4);
        assertEquals("aEnds", failures.get(0).getDescription().getMethodName());
        assertEnd(DURING, failures.get(0).getException());
        assertEquals("bEndsAndRestarts", failures.get(1).getDescription().getMethodName());
        assertEnd(DURING, failures.get(1).getException());
        assertEquals("the packet is empty", failures.get(2).getMessage());
        assertEnd(DURING, failures.get(2).getException().getSuppressed()[1]);
        assertEquals("dIsAborted", failures.get(3).getDescription().getMethodName());
        assertEnd(DURING, failures.get(3).getException());
    }

    @FixMethodOrder(MethodSorters.NAME_ASCENDING)
    public static class During {
        @ClassRule
        @Rule
        public static final LockredisRule lockredis = new LockredisRule();

        @Test
        public void aEnds() {
            LockredisRuleTest.lock(lockredis.server());
            end(lockredis.server());
        }

        @Test
        public void bEndsAndRestarts() {
            end(lockredis.server());
            lockredis.server().restart();
        }

        @Test
        public void cFails() {
            end(lockredis.server());
            fail("the packet is empty");
        }

        @Test
        public void dIsAborted() {
            end(lockredis.server());
            assumeTrue(false);
        }

        @Test
        public void eRuns() {
            assertTrue(lockredis.server().isRunning());
            lockredis.server().stop();
        }
    }

    @Test
    public void anEndOfATestsOwnServerFailsTheTest() {
        Failure failure = run(PerMethod.class, 1).get(0);
        assertEquals("test", failure.getDescription().getMethodName());
        assertEnd(DURING, failure.getException());
    }

    public static class PerMethod {
        @Rule
        public final LockredisRule lockredis = new LockredisRule().leaks(LeakMode.ALLOWED);

        @Test
        public void test() {
            end(lockredis.server());
        }
    }

    @Test
    public void anEndOutsideOfTheTestsFailsTheClass() {
        String all = assertClassFails(Between.class, "after the test one(" + Between.class.getName() + ")");
        assertTrue(all, all.contains("\nafter the test two(" + Between.class.getName() + "): " + DURING));
        assertClassFails(Before.class, "before the first test");
        assertClassFails(After.class, "after the test test(" + After.class.getName() + ")");
    }

    @FixMethodOrder(MethodSorters.NAME_ASCENDING)
    public static class Between {
        @ClassRule
        public static final LockredisRule lockredis = new LockredisRule();
        /** The outer rule ends the server after the check of the inner one. */
        @Rule
        public final TestRule chain = RuleChain.outerRule(new ExternalResource() {
            @Override
            protected void after() {
                end(lockredis.server());
            }
        }).around(lockredis);

        @Test
        public void one() {
            assertTrue(lockredis.server().isRunning());
        }

        @Test
        public void two() {
            one();
        }
    }

    @Test
    public void aLockThatAppearsBehindTheCheckFailsTheClass() {
        Failure failure = run(Late.class, 1).get(0);
        assertNull(failure.getDescription().getMethodName());
        String text = failure.getMessage();
        assertTrue(text, text.startsWith("after the test aLeaves(" + Late.class.getName()
                + ") had ended: a leak on redis://") && text.contains("lock \"order:1\" is held by "));
        run(LateAllowed.class, 0);
    }

    /** Its first test leaves a lock behind the check. */
    public abstract static class LeavesOne {
        @Rule
        public final TestRule chain = RuleChain.outerRule(lockAfter(rule())).around(rule());

        abstract LockredisRule rule();

        @Test
        public void aLeaves() {
            assertTrue(rule().server().isRunning());
        }

        @Test
        public void bRuns() {
            assertTrue(rule().server().isRunning());
        }
    }

    @FixMethodOrder(MethodSorters.NAME_ASCENDING)
    public static class Late extends LeavesOne {
        @ClassRule
        public static final LockredisRule lockredis = new LockredisRule();

        @Override
        LockredisRule rule() {
            return lockredis;
        }

        @AfterClass
        public static void after() {
            LockredisRuleTest.lock(lockredis.server());
        }
    }

    /** Returns an outer rule that acquires a lock after the check of the inner one. */
    private static TestRule lockAfter(LockredisRule lockredis) {
        return (base, description) -> new Statement() {
            @Override
            public void evaluate() throws Throwable {
                base.evaluate();
                if (description.getMethodName().endsWith("Leaves")) {
                    LockredisRuleTest.lock(lockredis.server());
                }
            }
        };
    }

    @FixMethodOrder(MethodSorters.NAME_ASCENDING)
    public static class LateAllowed extends LeavesOne {
        @ClassRule
        public static final LockredisRule lockredis = new LockredisRule().leaks(LeakMode.ALLOWED);

        @Override
        LockredisRule rule() {
            return lockredis;
        }
    }

    public static class Before {
        @ClassRule
        @Rule
        public static final LockredisRule lockredis = new LockredisRule();

        @BeforeClass
        public static void before() {
            end(lockredis.server());
        }

        @Test
        public void test() {
            assertTrue(lockredis.server().isRunning());
        }
    }

    public static class After {
        @ClassRule
        @Rule
        public static final LockredisRule lockredis = new LockredisRule();

        @AfterClass
        public static void after() {
            end(lockredis.server());
        }

        @Test
        public void test() {
            assertTrue(lockredis.server().isRunning());
        }
    }

    @Test
    public void anEndBehindTheLastCheckNamesTheTestOrTheClass() {
        Description test = Description.createTestDescription("orders.Some", "works");
        Description type = Description.createSuiteDescription("orders.Some");
        type.addChild(test);
        assertEquals("works(orders.Some)", LockredisRule.name(test));
        assertEquals("class orders.Some", LockredisRule.name(type));
    }

    @Test
    public void aLastActionThatEndsTheServerFailsTheTest() {
        List<Failure> failures = run(LastAction.class, 2);
        for (int i = 0; i < 2; i++) {
            assertEquals(i == 0 ? "aEnds" : "cEnds", failures.get(i).getDescription().getMethodName());
            assertEnd(DURING, failures.get(i).getException());
        }
    }

    /** Its tests return when the server has read SHUTDOWN. The process ends a moment later. */
    @FixMethodOrder(MethodSorters.NAME_ASCENDING)
    public static class LastAction {
        @ClassRule
        @Rule
        public static final LockredisRule lockredis = new LockredisRule()
                .leaks(LeakMode.ALLOWED).flush(FlushMode.NEVER);

        @Test
        public void aEnds() throws IOException {
            try (Socket client = new Socket("127.0.0.1", lockredis.server().port())) {
                client.getOutputStream().write("SHUTDOWN\r\n".getBytes(StandardCharsets.US_ASCII));
                assertEquals(-1, client.getInputStream().read());
            }
        }

        @Test
        public void bRuns() {
            assertEquals("PONG", lockredis.server().command("PING"));
        }

        @Test
        public void cEnds() throws IOException {
            aEnds();
        }
    }
}
