package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which leaks are those of one test. */
class LeakCheckTest {
    private static final String OWNER = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17";

    private LockredisServer server;

    @BeforeEach
    void start() {
        server = LockredisServer.start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private void acquire(String name) {
        server.command("EVAL", "return redis.call('hincrby', KEYS[1], ARGV[1], 1)", "1", name, OWNER);
    }

    @Test
    void whatWasThereBeforeIsNoLeak() {
        acquire("before");
        LeakCheck check = LeakCheck.begin(server);
        assertNull(check.end(false));
        acquire("after");
        String text = check.end(false);
        assertTrue(text.startsWith("a leak on " + server.redissonAddress() + ":\n  lock \"after\" is "
                + "held by " + OWNER), text);
    }

    @Test
    void onlyTheLeaksThatCountAreFound() {
        LeakCheck check = LeakCheck.begin(server, leak -> leak.name().startsWith("order:"));
        acquire("other");
        assertNull(check.end(false));
        acquire("order:1");
        assertTrue(check.end(false).contains("order:1"));
    }

    @Test
    void aCleanServerHasNoDataLeft() {
        LeakCheck check = LeakCheck.begin(server);
        acquire("order:1");
        assertTrue(check.end(true).contains("order:1"));
        assertEquals(0L, server.command("DBSIZE"));
    }

    @Test
    void waitersOfALockAreWoken() throws IOException {
        Endpoint address = new Endpoint(server.host(), server.port(), null, null, 0, false, null);
        LeakCheck check = LeakCheck.begin(server);
        acquire("order:1");
        try (Connection waiter = new Connection(address, 60_000);
                Connection shards = new Connection(address, 60_000)) {
            String channel = "redisson_lock__channel:{order:1}";
            waiter.call("SUBSCRIBE", channel);
            shards.call("SSUBSCRIBE", channel);
            assertTrue(check.end(true).startsWith("3 leaks on "));
            assertEquals(Arrays.asList("message", channel, "0"), waiter.call("PING"));
            assertEquals(Arrays.asList("smessage", channel, "0"), shards.call("PING"));
        }
    }

    @Test
    void aLockThatIsReleasedLateIsNoLeak() {
        LeakCheck check = LeakCheck.begin(server, leak -> {
            server.command("DEL", leak.name());
            return true;
        });
        acquire("order:1");
        assertNull(check.end(false));
    }

    @Test
    void aThreadThatLocksInALoopIsFoundUnlessItIsATask() throws Exception {
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
        try {
            // The lock is released when a look has seen it, and acquired again a moment later.
            Predicate<Leak> release = leak -> {
                server.command("DEL", leak.name());
                thread.schedule(() -> acquire("order:1"), 15, TimeUnit.MILLISECONDS);
                return true;
            };
            LeakCheck check = LeakCheck.begin(server, release);
            acquire("order:1");
            AtomicReference<String> text = new AtomicReference<>();
            Await.until("the loop is found", () -> { // a slow thread may lock after the check
                text.set(check.end(false));
                return text.get() != null;
            });
            assertTrue(text.get().contains("lock \"order:1\" is held by " + OWNER), text.get());
            Await.until("the lock is held", () -> !server.locks().isEmpty());
            assertNull(check.allowTasks().end(false));
        } finally {
            thread.shutdownNow();
            thread.awaitTermination(1, TimeUnit.MINUTES);
        }
    }
}
