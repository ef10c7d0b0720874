package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a failure tells of its server. The script writes what Redisson's lock script writes. */
class ServerStateTest {
    private static final String CLIENT = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:";
    private static final String ACQUIRE = "redis.call('hincrby', KEYS[1], ARGV[2], 1); "
            + "redis.call('pexpire', KEYS[1], ARGV[1]); return nil";

    private LockredisServer server;

    @BeforeEach
    void start() {
        server = LockredisServer.start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private void acquire(String name, long thread) {
        server.command("EVAL", ACQUIRE, "1", name, "30000", CLIENT + thread);
    }

    /** Returns what a failure tells. */
    private String state() {
        AssertionError failure = new AssertionError("the packet is empty");
        ServerState.addTo(failure, server);
        assertEquals(1, failure.getSuppressed().length);
        assertEquals(0, failure.getSuppressed()[0].getStackTrace().length);
        return failure.getSuppressed()[0].getMessage();
    }

    /** A terminal would do what a name says. */
    @Test
    void aNameIsNoControlSequence() {
        acquire("a\u001b[2J\r\nb\u202ec", 1);
        for (String text : new String[] {state(), server.locks().toString(),
                assertThrows(AssertionError.class, () -> server.await("awaitFree", Duration.ofMillis(1), "a\u001b[2J\r\nb\u202ec", "FREE"))
                        .getMessage()}) {
            assertContains(text, "a\\x1b[2J\\r\\nb\\u202ec");
            assertFalse(text.contains("\u001b"), text);
        }
    }

    private static void assertContains(String text, String part) {
        assertTrue(text.contains(part), text);
    }

    @Test
    void aHolderOfThisJvmHasItsThreadAndItsStack() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        Thread holder = new Thread(() -> awaitEnd(end), "packer");
        holder.start();
        acquire("order:1", holder.getId());
        acquire("order:2", holder.getId());
        String state = state();
        end.countDown();
        holder.join();
        assertContains(state, server.redissonAddress() + " when the test failed:\n  lock order:1, ttl ");
        assertContains(state, "\n    held by " + CLIENT + holder.getId() + " (1 hold, for ");
        String thread = "\n      thread " + holder.getId() + " \"packer\" of this JVM, ";
        assertContains(state, thread);
        assertContains(state, "\n        at " + ServerStateTest.class.getName() + ".awaitEnd(ServerStateTest.java:");
        assertContains(state, thread + "see above");
    }

    private static void awaitEnd(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void theThreadOfTheTestHasNoStackAndThatOfAnotherJvmNoThread() {
        acquire("order:1", Thread.currentThread().getId());
        acquire("order:2", Long.MAX_VALUE / 10);
        String state = state();
        assertContains(state, "of this JVM, which runs the test");
        assertContains(state, "held by " + CLIENT + Long.MAX_VALUE / 10 + " (1 hold");
        assertFalse(state.contains("thread " + Long.MAX_VALUE / 10), state);
        assertFalse(state.contains("  at "), state);
    }

    @Test
    void aServerWithoutLocksSaysSoAndShowsItsLog() {
        String state = state();
        assertContains(state, "\n  no lock is held or waited for\n  its log ends with:\n    | ");
        assertContains(state, "Ready to accept connections");
    }

    /** A build tool may pass a failure from the tests' JVM to its own. */
    @Test
    void aCopyOfTheFailureTellsTheSame() throws Exception {
        AssertionError failure = new AssertionError("the packet is empty");
        ServerState.addTo(failure, server);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(failure);
        Throwable copy = (Throwable) new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
        assertEquals(failure.getSuppressed()[0].getMessage(), copy.getSuppressed()[0].getMessage());
    }

    @Test
    void manyLocksAreCounted() {
        for (int i = 0; i < 21; i++) {
            acquire("order:" + i, Long.MAX_VALUE / 10);
        }
        String state = state();
        assertContains(state, "\n  the first 20 of 21 locks:\n  lock order:0, ");
        assertEquals(20, state.split("held by ", -1).length - 1, state);
    }

    @Test
    void aServerThatHasEndedIsNoReasonToFail() {
        server.stop();
        assertContains(state(), "\n  its locks are unknown: lockredis at " + server.redissonAddress() + " is stopped");
        server.close();
        assertContains(state(), " is closed");
    }

    /** Without the limit of a second the command's own ten seconds pass. */
    @Test
    void aServerThatHangsHoldsUpNoTest() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        Thread hanging = new Thread(() -> {
            begun.countDown();
            try {
                server.command("EVAL", "while true do end", "0");
            } catch (LockredisException e) {
                // the server has ended the script
            }
        });
        hanging.start();
        awaitEnd(begun);
        String state;
        long start;
        do { // until the script runs
            start = System.nanoTime();
            state = state();
        } while (!state.contains("its locks are unknown"));
        assertTrue(System.nanoTime() - start < 8_000_000_000L, state);
        server.reset(); // ends the script
        hanging.join();
        assertContains(state, "LOCK.LIST on " + server.redissonAddress() + ": java.net.SocketTimeoutException");
    }
}
