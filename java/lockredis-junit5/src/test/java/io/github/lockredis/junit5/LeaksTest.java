package io.github.lockredis.junit5;

import static io.github.lockredis.junit5.RedissonLeaksTest.assertMatches;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Filter;
import java.util.logging.Logger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.opentest4j.TestAbortedException;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisException;
import io.github.lockredis.server.LockredisServer;

/** When a test fails for what it has left behind, and with which text. */
@Execution(ExecutionMode.CONCURRENT) // each failure waits a second
class LeaksTest {
    @Test
    void aPauseThatATestLeavesFailsItAndEnds() {
        Map<String, Throwable> failures = Run.of(Pauses.class, AllowedPauses.class).failures();
        assertEquals("[aWrites, bClients]", failures.keySet().toString(), failures::toString);
        String writes = failures.get("aWrites").getMessage();
        assertTrue(writes.contains("a pause was left on redis://127.0.0.1:"), writes);
        assertTrue(writes.contains(" ms. unpauseClients() ends it"), writes);
        assertTrue(writes.contains("lock \"order:1\" is held by"), writes);
        String clients = failures.get("bClients").getMessage();
        assertTrue(clients.contains(" ms. unpauseClients() ends it"), clients);
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class Pauses {
        @Test
        void aWrites(LockredisServer server) {
            Plain.lock(server, "order:1");
            server.pauseWrites(Duration.ofHours(1));
        }

        @Test
        void bClients(LockredisServer server) {
            server.command("CLIENT", "PAUSE", "3600000");
        }

        @Test
        void cIsNotHeldBack(LockredisServer server) {
            server.command("SET", "key", "value");
        }
    }

    @Lockredis(leaks = LeakMode.ALLOWED)
    static class AllowedPauses {
        @RepeatedTest(2)
        void writes(LockredisServer server) {
            server.pauseWrites(Duration.ofHours(1));
        }

        @RepeatedTest(2)
        void clients(LockredisServer server) {
            server.pauseClients(Duration.ofHours(1));
        }
    }

    private static final String LEAK = "a leak on redis://127.0.0.1:N:\n"
            + "  lock \"order:N\" is held by UUID:N, hold count N, for another N, "
            + "acquired N ago; its client was 127.0.0.1:N";

    @Test
    void theTextIsThatOfAssertNoLeaks() {
        Throwable failure = Run.of(SameText.class).failure("test");
        assertMatches(LEAK, failure.getMessage());
        assertMatches(LEAK, SameText.text);
        assertEquals(AssertionError.class, failure.getClass());
    }

    @Lockredis
    static class SameText {
        static String text;

        @Test
        void test(LockredisServer server) {
            Plain.lock(server, "order:1");
            text = assertThrows(AssertionError.class, server::assertNoLeaks).getMessage();
        }
    }

    @Test
    void aTestThatFailedHasTheLeaksAsSuppressed() {
        Throwable failure = Run.of(Failed.class).failure("test");
        assertEquals("the packet is empty", failure.getMessage());
        assertEquals(2, failure.getSuppressed().length); // the first is the server's state
        assertMatches(LEAK, failure.getSuppressed()[1].getMessage());
    }

    @Lockredis
    static class Failed {
        @Test
        void test(LockredisServer server) {
            Plain.lock(server, "order:1");
            fail("the packet is empty");
        }
    }

    @Test
    void anAbortedTestStaysAbortedAndTheLogHasItsLeaks() {
        List<String> logged = new CopyOnWriteArrayList<>();
        Logger log = Logger.getLogger(LockredisExtension.class.getName());
        Filter filter = record -> {
            logged.add(record.getMessage());
            return false;
        };
        log.setFilter(filter);
        Throwable abort = Run.of(Aborted.class).failure("test");
        log.setFilter(null);
        assertEquals(1, logged.size(), logged::toString);
        assertTrue(logged.get(0).startsWith("Aborted.test is aborted, and left a leak on "), logged::toString);
        assertTrue(abort instanceof TestAbortedException, abort::toString);
        assertEquals(1, abort.getSuppressed().length);
        assertMatches(LEAK, abort.getSuppressed()[0].getMessage());
    }

    @Lockredis
    static class Aborted {
        @Test
        void test(LockredisServer server) {
            Plain.lock(server, "order:1");
            Assumptions.assumeTrue(false, "the abort");
        }
    }

    @Test
    void leaksMayBeAllowed() {
        Run.of(Allowed.class, AllowedByBuilder.class).assertSucceeded(4);
    }

    @Lockredis(leaks = LeakMode.ALLOWED)
    static class Allowed {
        @Test
        void one(LockredisServer server) {
            leak(server);
        }

        @Test
        void two(LockredisServer server) {
            leak(server);
        }

        static void leak(LockredisServer server) {
            assertNull(server.command("GET", "order:1"));
            Plain.lock(server, "order:1");
        }
    }

    static class AllowedByBuilder extends Allowed {
        @RegisterExtension
        static LockredisExtension lockredis =
                LockredisExtension.builder().name("other").leaks(LeakMode.ALLOWED).build();
    }

    @Test
    void afterEachMayRelease() {
        Run.of(Releasing.class).assertSucceeded(1);
    }

    @Lockredis
    static class Releasing {
        @Test
        void test(LockredisServer server) {
            Plain.lock(server, "order:1");
        }

        @AfterEach
        void release(LockredisServer server) {
            Plain.unlock(server, "order:1");
        }
    }

    @Test
    void aThreadThatReleasesSoonAfterwardsIsNoLeak() {
        Run.of(ReleasingSoon.class).assertSucceeded(1);
    }

    @Lockredis
    static class ReleasingSoon {
        @Test
        void test(LockredisServer server) {
            Plain.lock(server, "order:1");
            new Thread(() -> {
                Wait.until(() -> !server.leaks().isEmpty());
                Plain.unlock(server, "order:1");
            }).start();
        }
    }

    @Test
    void allServersOfATestAreChecked() {
        String text = Run.of(SeveralServers.class).failure("test").getMessage();
        assertMatches(LEAK + "\n" + LEAK + "\n" + LEAK, text);
    }

    @Lockredis
    static class SeveralServers {
        @Lockredis(name = "other")
        static LockredisServer other;

        @Test
        void test(LockredisServer server, @Lockredis(perMethod = true) LockredisServer own) {
            Plain.lock(server, "order:1");
            Plain.lock(other, "order:2");
            Plain.lock(own, "order:3");
        }
    }

    @Test
    void keysThatAreDataAreNoLeaks() {
        assertMatches(LEAK, Run.of(DataKeys.class).failure("locks").getMessage());
        Run.of(DataKeysOfABuilder.class).assertSucceeded(1);
    }

    private static final String[] IDEMPOTENT = {"SET", "idem:1", Plain.OWNER.substring(0, 36), "NX", "EX", "3600"};

    @Lockredis(dataKeys = "idem:*")
    static class DataKeys {
        @Test
        void remembers(LockredisServer server) {
            server.command(IDEMPOTENT);
        }

        @Test
        void locks(LockredisServer server) {
            server.command(IDEMPOTENT);
            Plain.lock(server, "order:1");
        }
    }

    static class DataKeysOfABuilder {
        @RegisterExtension
        static final LockredisExtension EXTENSION =
                LockredisExtension.builder().dataKeys("order:1", "idem:[0-9]").build();

        @Test
        void remembers(LockredisServer server) {
            server.command(IDEMPOTENT);
            Plain.lock(server, "order:1");
        }
    }

    @Test
    void aBlockedClientFailsItsTestOnly() {
        String text = Run.of(Blocked.class).failure("one").getMessage();
        assertMatches("a leak on redis://127.0.0.1:N:\n"
                + "  client 127.0.0.1:N waits in BLPOP for \"jobs\"", text);
        assertTrue(Blocked.error.getMessage().contains("UNBLOCKED"), Blocked.error::toString);
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class Blocked {
        static Thread worker;
        static volatile LockredisException error;

        @Test
        void one(LockredisServer server) {
            worker = new Thread(() -> error = assertThrows(LockredisException.class, () ->
                    server.command("BLPOP", "jobs", "0")));
            worker.start();
            Wait.until(() -> !server.leaks().isEmpty());
        }

        @Test
        void two(LockredisServer server) throws InterruptedException {
            worker.join();
            assertEquals(Collections.emptyList(), server.leaks());
        }
    }

    @Test
    void aStoppedServerStartsAgainForTheNextTest() {
        Run.of(Stopping.class).assertSucceeded(2);
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class Stopping {
        static int port;

        @Test
        void one(LockredisServer server) {
            port = server.port();
            Plain.lock(server, "order:1");
            server.stop();
            assertFalse(server.isRunning());
        }

        @Test
        void two(LockredisServer server) {
            assertEquals(port, server.port());
            assertEquals("PONG", server.command("PING"));
        }
    }

    @Test
    void withoutFlushTheDataStaysAndALeakIsReportedOnce() {
        String text = Run.of(NoFlush.class).failure("one").getMessage();
        assertMatches(LEAK, text);
    }

    @Lockredis(flush = FlushMode.NEVER)
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class NoFlush {
        @Test
        void one(LockredisServer server) {
            server.command("SET", "key", "value");
            Plain.lock(server, "order:1");
        }

        @Test
        void two(LockredisServer server) {
            assertEquals("value", server.command("GET", "key"));
            assertEquals(1, server.leaks().size());
        }
    }
}
