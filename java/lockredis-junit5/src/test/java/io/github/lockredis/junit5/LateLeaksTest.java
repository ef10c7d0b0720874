package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisServer;

/** What a test has under way as it returns appears behind its check. It fails the class, and names the test. */
class LateLeaksTest {
    @Test
    void aLockThatAppearsBehindTheCheckFailsTheClassOnce() {
        for (Class<?> type : Arrays.asList(Between.class, Kept.class, OneInstance.class)) {
            assertLate("after the test " + type.getSimpleName() + ".aLeaves had ended: a leak on ",
                    Run.of(type).failure(type.getSimpleName()));
        }
    }

    private static void assertLate(String start, Throwable failure) {
        assertEquals(AssertionError.class, failure.getClass(), failure::toString);
        String text = failure.getMessage();
        assertTrue(text.startsWith(start) && text.contains("lock \"late\" is held by "), text);
        assertEquals(text.indexOf(" leak on "), text.lastIndexOf(" leak on "), text);
    }

    /** It acts behind the check of the extension that is registered later. */
    static class LockAfterEach implements AfterEachCallback {
        static LockredisServer server;

        @Override
        public void afterEach(ExtensionContext context) {
            if (context.getRequiredTestMethod().getName().matches(".*[lL]eaves")) {
                Plain.lock(server, "late");
            }
        }
    }

    @TestMethodOrder(MethodOrderer.MethodName.class)
    abstract static class LeavesOne {
        @Test
        void aLeaves(LockredisServer server) {
            LockAfterEach.server = server;
        }

        @Test
        void bRuns(LockredisServer server) {
            assertTrue(server.isRunning());
        }

        @Test
        void cRuns(LockredisServer server) {
            assertTrue(server.isRunning());
        }
    }

    @ExtendWith(LockAfterEach.class)
    @Lockredis
    static class Between extends LeavesOne {
    }

    @ExtendWith(LockAfterEach.class)
    @Lockredis(flush = FlushMode.NEVER)
    static class Kept extends LeavesOne {
    }

    @ExtendWith(LockAfterEach.class)
    @Lockredis
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class OneInstance extends LeavesOne {
    }

    @Test
    void alsoBehindTheLastTest() {
        assertLate("after the test Last.leaves had ended: ", Run.of(Last.class).failure("Last"));
        assertLate("after the test LastWithAfterAll.leaves had ended: ",
                Run.of(LastWithAfterAll.class).failure("LastWithAfterAll"));
        assertLate("after the test Inner.leaves had ended: ", Run.of(Outer.class).failure("Outer"));
        assertLate("after the test OwnServer.leaves had ended: ", Run.of(OwnServer.class).failure("leaves"));
    }

    @ExtendWith(LockAfterEach.class)
    @Lockredis
    static class Last {
        @Test
        void leaves(LockredisServer server) {
            LockAfterEach.server = server;
        }
    }

    @ExtendWith(LockAfterEach.class)
    @Lockredis
    static class LastWithAfterAll {
        @Test
        void leaves(LockredisServer server) {
            LockAfterEach.server = server;
        }

        @AfterAll
        static void delete(LockredisServer server) {
            server.flush();
        }
    }

    @ExtendWith(LockAfterEach.class)
    @Lockredis
    static class Outer {
        @Nested
        class Inner extends Last {
        }

        @AfterAll
        static void delete(LockredisServer server) {
            server.flush();
        }
    }

    @ExtendWith(LockAfterEach.class)
    static class OwnServer {
        @Test
        void leaves(@Lockredis(perMethod = true) LockredisServer server) {
            LockAfterEach.server = server;
        }
    }

    @Test
    void nothingIsReportedIfLeaksAreAllowed() {
        Run.of(Allowed.class).assertSucceeded(3);
    }

    @ExtendWith(LockAfterEach.class)
    @Lockredis(leaks = LeakMode.ALLOWED)
    static class Allowed extends LeavesOne {
    }

    @Test
    void whatTheClassAcquiresAroundItsTestsIsNotTheTests() {
        Run.of(Around.class).assertSucceeded(5);
        Run.of(AroundOneInstance.class).assertSucceeded(2);
    }

    @Lockredis(flush = FlushMode.NEVER)
    static class Around {
        static int locks;

        Around(LockredisServer server) {
            acquire(server);
        }

        static void acquire(LockredisServer server) {
            Plain.lock(server, "around:" + locks++);
        }

        @BeforeAll
        static void before(LockredisServer server) {
            acquire(server);
        }

        @Test
        void one() {
        }

        @Test
        void two() {
        }

        @Test
        void three() {
        }

        @Nested
        class Inner {
            @BeforeEach
            void before(LockredisServer server) {
                Plain.lock(server, "each");
                Plain.unlock(server, "each");
            }

            @Test
            void one() {
            }

            @Test
            void two() {
            }
        }

        @AfterAll
        static void after(LockredisServer server) {
            acquire(server);
        }
    }

    @Lockredis
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class AroundOneInstance {
        AroundOneInstance(LockredisServer server) {
            Plain.lock(server, "constructor");
        }

        @BeforeAll
        void before(LockredisServer server) {
            Plain.lock(server, "before");
        }

        @Test
        void one() {
        }

        @Test
        void two() {
        }

        @AfterAll
        void after(LockredisServer server) {
            Plain.lock(server, "after");
        }
    }
}
