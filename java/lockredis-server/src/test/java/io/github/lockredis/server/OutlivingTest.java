package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Threads and clients that outlive a test: no later test is to blame for them. */
class OutlivingTest {
    private static final String CLIENT = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:";
    private static final long THREAD = Long.MAX_VALUE / 10; // none of this JVM

    private LockredisServer server;

    @BeforeEach
    void start() {
        server = LockredisServer.start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private void acquire(String name, String owner) {
        server.command("EVAL", "return redis.call('hincrby', KEYS[1], ARGV[1], 1)", "1", name, owner);
    }

    /** Releases a lock, and acquires it again at once: the server knows the time of the acquisition. */
    private void takeTurn(Leak leak) {
        server.command("DEL", leak.name());
        acquire(leak.name(), leak.owner());
    }

    @Test
    void aTaskThatEarlierTestsHaveSeenMayAcquireAgainAndAgain() {
        for (boolean task : new boolean[] {true, false}) {
            String owner = CLIENT + (THREAD + (task ? 1 : 0));
            acquire("tick", owner);
            LeakCheck.begin(server); // it sees the owner
            server.flush();
            LeakCheck check = LeakCheck.begin(server, leak -> {
                takeTurn(leak);
                return true;
            });
            if (task) {
                check.allowTasks();
            }
            acquire("tick", owner);
            assertNull(check.end(false));
            server.flush();
        }
    }

    @Test
    void aTaskOfTheFirstTestMayAcquireAgainAndAgain() {
        LeakCheck check = LeakCheck.begin(server, leak -> {
            takeTurn(leak);
            return true;
        }).allowTasks();
        acquire("tick", CLIENT + THREAD);
        assertNull(check.end(false));
    }

    @Test
    void aForgottenLockOfATaskIsALeak() {
        acquire("tick", CLIENT + THREAD);
        LeakCheck.begin(server);
        server.flush();
        LeakCheck check = LeakCheck.begin(server).allowTasks();
        acquire("tick", CLIENT + THREAD);
        assertNotNull(check.end(false));
    }

    @Test
    void aLockThatIsReleasedBeforeItsTimeIsOverIsNoLeakBesideAnother() {
        AtomicInteger looks = new AtomicInteger();
        LeakCheck check = LeakCheck.begin(server, leak -> {
            looks.incrementAndGet();
            if (looks.get() == 1) {
                server.command("DEL", "short");
            }
            return true;
        });
        acquire("long", CLIENT + THREAD);
        acquire("short", CLIENT + (THREAD + 1));
        server.command("PEXPIRE", "short", "600");
        String text = check.end(false);
        assertTrue(text.contains("\"long\"") && !text.contains("\"short\""), text);
    }

    @Test
    void aConsumerThatGoesOnIsToldOnce() throws Exception {
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
        try (Connection first = Clients.connect(server); Connection second = Clients.connect(server)) {
            LeakCheck check = LeakCheck.begin(server);
            thread.submit(() -> {
                try {
                    first.call("BLPOP", "orders", "0");
                } catch (Exception e) { // UNBLOCKED: a pool gives it another connection
                    Thread.sleep(50);
                }
                return second.call("BLPOP", "orders", "0");
            });
            Await.until("the consumer waits", () -> !server.leaks().isEmpty());
            String text = check.end(true);
            assertTrue(text.contains("waits in BLPOP"), text);
            assertEquals(1, server.leaks().size()); // the check has waited for it
            assertNull(LeakCheck.begin(server).end(true));
            server.command("CLIENT", "UNBLOCK", Long.toString(server.leaks().get(0).client().id()));
            Await.until("the consumer works", () -> server.leaks().isEmpty());
            check = LeakCheck.begin(server);
            thread.submit(() -> first.call("BLPOP", "orders", "0"));
            Await.until("the consumer waits again", () -> !server.leaks().isEmpty());
            assertNull(check.end(true));
            try (Connection third = Clients.connect(server)) {
                ScheduledExecutorService another = Executors.newSingleThreadScheduledExecutor();
                another.submit(() -> third.call("BLPOP", "orders", "0"));
                Await.until("two consumers wait", () -> server.leaks().size() == 2);
                assertTrue(check.end(true).startsWith("a leak on "));
                another.shutdown();
            }
        } finally {
            thread.shutdownNow();
        }
        assertTrue(thread.awaitTermination(1, TimeUnit.MINUTES));
    }
}
