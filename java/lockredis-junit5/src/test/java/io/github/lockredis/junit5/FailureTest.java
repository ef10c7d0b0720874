package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.ServerState;

/** What a failing test tells of its servers. */
class FailureTest {
    private static List<String> states(Throwable failure) {
        return Arrays.stream(failure.getSuppressed()).filter(ServerState.class::isInstance)
                .map(Throwable::getMessage).collect(Collectors.toList());
    }

    private static void assertContains(String text, String part) {
        assertTrue(text.contains(part), text);
    }

    @Test
    void aFailureTellsWhoHeldAndWhoWaited() {
        List<String> states = states(Run.of(Stuck.class).failure("test"));
        assertEquals(1, states.size());
        String state = states.get(0);
        assertContains(state, "\n  lock order:42, ttl ");
        assertContains(state, "\n    held by " + Stuck.id + ":" + Stuck.holder + " (1 hold, ");
        assertContains(state, "\n      thread " + Stuck.holder + " \"packer\" of this JVM, TIMED_WAITING");
        assertContains(state, "Stuck.pack(FailureTest.java:");
        assertContains(state, "\n    waited for by client id=");
        assertContains(state, "\n  inside a method of a lock, on any server:\n    thread ");
        assertContains(state, " \"shipper\" of this JVM, ");
        assertContains(state, "\n      at org.redisson.RedissonLock.lock(");
        assertContains(state, "Ready to accept connections");
    }

    @Lockredis
    static class Stuck extends Connected {
        static String id;
        static long holder;
        private final Object end = new Object();
        private boolean ended; // guarded by end
        private Thread packer;
        private Thread shipper;

        @Test
        void test(LockredisServer server) {
            id = client.getId();
            RLock lock = client.getLock("order:42");
            packer = new Thread(() -> pack(lock), "packer");
            shipper = new Thread(() -> {
                lock.lock();
                lock.unlock();
            }, "shipper");
            holder = packer.getId();
            packer.start();
            server.awaitHeld("order:42");
            shipper.start();
            server.awaitWaiters("order:42", 1);
            Wait.until(() -> packer.getState() == Thread.State.TIMED_WAITING);
            fail("the packet is empty");
        }

        private void pack(RLock lock) {
            lock.lock();
            synchronized (end) {
                while (!ended) {
                    try {
                        end.wait(3_600_000);
                    } catch (InterruptedException e) {
                        break;
                    }
                }
            }
            lock.unlock();
        }

        /** Releases the lock, as a test does: the state is older. */
        @AfterEach
        void release() throws InterruptedException {
            synchronized (end) {
                ended = true;
                end.notifyAll();
            }
            packer.join();
            shipper.join();
        }
    }

    @Test
    void aMethodAroundATestTellsItTooAndEachServerIsTold() {
        Map<String, Throwable> failures = Run.of(FailsBehind.class).failures();
        assertEquals("[test]", failures.keySet().toString());
        List<String> states = states(failures.get("test"));
        assertEquals(2, states.size(), states::toString);
        assertFalse(states.get(0).split("\n")[0].equals(states.get(1).split("\n")[0]), states.get(0));
    }

    @Lockredis
    static class FailsBehind {
        @Test
        void test(LockredisServer server, @Lockredis(name = "archive") LockredisServer archive) {
            assertTrue(server.isRunning() && archive.isRunning());
        }

        @AfterEach
        void failed() {
            fail("the packet is empty");
        }
    }

    @Test
    void anAssumptionThatIsFalseTellsNothing() {
        Throwable abort = Run.of(Aborted.class).failure("test");
        assertEquals(0, abort.getSuppressed().length);
    }

    @Lockredis
    static class Aborted {
        @Test
        void test(LockredisServer server) {
            Assumptions.assumeFalse(server.isRunning());
        }
    }
}
