package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisException;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.Topology;

/** A server that ends by itself fails the test, or the class. The next test has a new server. */
@Execution(ExecutionMode.CONCURRENT)
class UnexpectedEndTest {
    private static final String END = " ended by itself with exit code 0. A test calls stop() for an"
            + " outage. Its log ends with:\n  | ";
    private static final String OUTSIDE = ": lockredis at redis://";

    /** Ends the process as a bug in it would. */
    static void end(LockredisServer server) {
        try {
            server.command("SHUTDOWN");
        } catch (LockredisException e) {
            assertTrue(e.getMessage().contains("has ended by itself"), e.getMessage());
        }
    }

    private static void assertEnd(String start, Throwable failure) {
        assertEquals(AssertionError.class, failure.getClass(), failure::toString);
        String text = failure.getMessage();
        assertTrue(text.startsWith(start) && text.contains(END), text);
    }

    @Test
    void anEndDuringATestFailsItOnly() {
        Map<String, Throwable> failures =
                Run.of(During.class, Allowed.class, PerMethod.class).failures();
        assertEquals("[aEnds, bEndsAndRestarts, allowed, perMethod]",
                failures.keySet().toString(), failures::toString);
        failures.values().forEach(failure -> assertEnd("lockredis at redis://", failure));
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class During {
        @Test
        void aEnds(LockredisServer server) {
            Plain.lock(server, "order:1");
            end(server);
        }

        @Test
        void bEndsAndRestarts(LockredisServer server) {
            end(server);
            server.restart();
            assertNull(server.command("GET", "key"));
        }

        @Test
        void cRuns(LockredisServer server) {
            assertTrue(server.isRunning());
            server.stop();
        }
    }

    @Lockredis(leaks = LeakMode.ALLOWED)
    static class Allowed {
        @Test
        void allowed(LockredisServer server) {
            end(server);
        }
    }

    static class PerMethod {
        @Test
        void perMethod(@Lockredis(perMethod = true) LockredisServer server) {
            end(server);
        }
    }

    @Test
    void anEndIsSuppressedByAnEarlierFailureAndFailsATestWithAFalseAssumption() {
        Map<String, Throwable> failures = Run.of(Failed.class).failures();
        assertEquals("the packet is empty", failures.get("failed").getMessage());
        assertEnd("lockredis at redis://", failures.get("failed").getSuppressed()[1]);
        assertEnd("lockredis at redis://", failures.get("aborted"));
    }

    @Lockredis
    static class Failed {
        @Test
        void failed(LockredisServer server) {
            end(server);
            fail("the packet is empty");
        }

        @Test
        void aborted(LockredisServer server) {
            end(server);
            assumeTrue(false);
        }
    }

    @Test
    void aLastActionThatEndsTheServerFailsTheTestInEveryMode() {
        for (Class<?> type : Arrays.asList(Last.class, LastUnchecked.class, LastKept.class,
                LastSentinel.class, LastCluster.class)) {
            Map<String, Throwable> failures = Run.of(type).failures();
            assertEquals("[aEnds, cEnds]", failures.keySet().toString(), () -> type + ": " + failures);
            failures.values().forEach(failure -> assertEnd("lockredis at redis://", failure));
        }
    }

    /** Its tests return when the server has read SHUTDOWN. The process ends a moment later. */
    @TestMethodOrder(MethodOrderer.MethodName.class)
    abstract static class LastAction {
        @Test
        void aEnds(LockredisServer server) throws IOException {
            try (Socket client = new Socket(server.host(), server.port())) {
                client.getOutputStream().write("SHUTDOWN\r\n".getBytes(StandardCharsets.US_ASCII));
                assertEquals(-1, client.getInputStream().read());
            }
        }

        @Test
        void bRuns(LockredisServer server) {
            assertEquals("PONG", server.command("PING"));
        }

        @Test
        void cEnds(LockredisServer server) throws IOException {
            aEnds(server);
        }
    }

    @Lockredis
    static class Last extends LastAction {
    }

    @Lockredis(leaks = LeakMode.ALLOWED)
    static class LastUnchecked extends LastAction {
    }

    @Lockredis(leaks = LeakMode.ALLOWED, flush = FlushMode.NEVER)
    static class LastKept extends LastAction {
    }

    @Lockredis(leaks = LeakMode.ALLOWED, topology = Topology.SENTINEL)
    static class LastSentinel extends LastAction {
    }

    @Lockredis(leaks = LeakMode.ALLOWED, topology = Topology.CLUSTER)
    static class LastCluster extends LastAction {
    }

    @Test
    void aServerThatAnswersNoMoreFailsOnlyTheTestThatDidIt() {
        for (Class<?> type : Arrays.asList(Unusable.class, UnusableUnchecked.class)) {
            Map<String, Throwable> failures = Run.of(type).failures();
            assertEquals("[aStartsAScript, cIsAborted]", failures.keySet().toString(), failures::toString);
            failures.values().forEach(failure -> assertTrue(failure.getMessage().contains("BUSY"),
                    failure::toString));
        }
    }

    @Lockredis(directives = "busy-reply-threshold 1")
    static class Unusable extends StartsAScript {
    }

    @Lockredis(leaks = LeakMode.ALLOWED, directives = "busy-reply-threshold 1")
    static class UnusableUnchecked extends StartsAScript {
    }

    @TestMethodOrder(MethodOrderer.MethodName.class)
    abstract static class StartsAScript {
        @Test
        void aStartsAScript(LockredisServer server) throws Exception {
            try (Socket client = new Socket(server.host(), server.port())) {
                client.getOutputStream().write("EVAL 'while true do end' 0\r\n".getBytes(StandardCharsets.US_ASCII));
                while (!isBusy(server)) {
                    Thread.yield();
                }
            }
        }

        private static boolean isBusy(LockredisServer server) {
            try {
                server.command("PING");
                return false;
            } catch (LockredisException e) {
                return e.getMessage().contains("BUSY");
            }
        }

        @Test
        void bRuns(LockredisServer server) {
            assertEquals("PONG", server.command("PING"));
        }

        @Test
        void cIsAborted(LockredisServer server) throws Exception {
            aStartsAScript(server);
            assumeTrue(false);
        }

        @Test
        void dRuns(LockredisServer server) {
            bRuns(server);
        }
    }

    @Test
    void whatATestSetsForClientsFailsNoTest() {
        for (Class<?> type : Arrays.asList(Closed.class, ClosedUnchecked.class)) {
            Run.of(type).assertSucceeded(4);
        }
    }

    @Lockredis
    static class Closed extends Closes {
    }

    @Lockredis(leaks = LeakMode.ALLOWED, flush = FlushMode.NEVER)
    static class ClosedUnchecked extends Closes {
    }

    abstract static class Closes {
        @ParameterizedTest
        @ValueSource(strings = {"CONFIG SET requirepass secret", "ACL SETUSER default off", "CONFIG SET maxclients 1",
            "CONFIG SET maxmemory 1"})
        void test(String line, LockredisServer server) {
            assertEquals("OK", server.command("SET", "key", "value"));
            server.command(line.split(" "));
        }
    }

    @Test
    void anEndBetweenTestsFailsTheClass() {
        assertEnd("after the test Between.one" + OUTSIDE, Run.of(Between.class).failure("Between"));
    }

    @ExtendWith(EndAfterEach.class)
    @Lockredis
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class Between {
        static LockredisServer server;

        @Test
        void one(LockredisServer server) {
            Between.server = server;
            assertTrue(server.isRunning());
        }

        @Test
        void two(LockredisServer server) {
            one(server);
        }
    }

    /** Its callback comes after that of the extension that is registered later. */
    static class EndAfterEach implements AfterEachCallback {
        @Override
        public void afterEach(ExtensionContext context) {
            end(Between.server);
        }
    }

    @Test
    void anEndFailsEachTestThatRunsWhenItIsNoticed() {
        Map<String, Throwable> failures = Run.parallel(Beside.class).failures();
        assertEquals(new HashSet<>(Arrays.asList("ends", "runsBeside")), failures.keySet(),
                failures::toString);
        failures.values().forEach(failure -> assertEnd("lockredis at redis://", failure));
    }

    @Execution(ExecutionMode.CONCURRENT) // a PER_CLASS instance has another default
    @ExtendWith(Beside.AfterTheCheck.class)
    @Lockredis
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class Beside {
        static final CountDownLatch RUNNING = new CountDownLatch(1);
        static final CountDownLatch ENDED = new CountDownLatch(1);
        static final CountDownLatch CHECKED = new CountDownLatch(1);
        @Lockredis
        LockredisServer server;

        @Test
        void ends() throws Exception {
            assertTrue(RUNNING.await(1, TimeUnit.MINUTES));
            end(server);
            ENDED.countDown();
            assertTrue(CHECKED.await(1, TimeUnit.MINUTES)); // the other test has noticed the end
        }

        @Test
        void runsBeside() throws Exception {
            RUNNING.countDown();
            assertTrue(ENDED.await(1, TimeUnit.MINUTES));
        }

        static class AfterTheCheck implements AfterEachCallback {
            @Override
            public void afterEach(ExtensionContext context) {
                if (context.getRequiredTestMethod().getName().equals("runsBeside")) {
                    CHECKED.countDown();
                }
            }
        }
    }

    @Test
    void anEndAfterTheTestWithAServerOfItsOwnFailsTheTest() {
        assertEnd("after the test OwnServer.test" + OUTSIDE, Run.of(OwnServer.class).failure("test"));
    }

    @ExtendWith(EndOwn.class)
    static class OwnServer {
        static LockredisServer server;

        @Test
        void test(@Lockredis(perMethod = true) LockredisServer server) {
            OwnServer.server = server;
        }
    }

    static class EndOwn implements AfterEachCallback {
        @Override
        public void afterEach(ExtensionContext context) {
            end(OwnServer.server);
        }
    }

    @Test
    void anEndBeforeOrAfterTheTestsFailsTheClass() {
        assertEnd("before the first test" + OUTSIDE, Run.of(Before.class).failure("Before"));
        assertEnd("after the test After.test" + OUTSIDE, Run.of(After.class).failure("After"));
    }

    @Lockredis
    static class Before {
        @BeforeAll
        static void before(LockredisServer server) {
            end(server);
        }

        @Test
        void test(LockredisServer server) {
            assertTrue(server.isRunning());
        }
    }

    @Lockredis
    static class After {
        @AfterAll
        static void after(LockredisServer server) {
            end(server);
        }

        @Test
        void test(LockredisServer server) {
            assertTrue(server.isRunning());
        }
    }
}
