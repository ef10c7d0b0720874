package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ServerClockTest {
    private static final String OWNER = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17";
    private static final Duration LEASE = Duration.ofHours(1);

    private final LockredisServer server = LockredisServer.start();

    @AfterEach
    void stop() {
        server.close();
    }

    private void acquire(String name) {
        server.command("EVAL", "redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2])", "1",
                name, OWNER, Long.toString(LEASE.toMillis()));
    }

    @Test
    void aTurnEndsLeasesAndTellsTheWaiters() throws Exception {
        acquire("order:1");
        try (Connection waiter = Clients.connect(server)) {
            waiter.call("SUBSCRIBE", "redisson_lock__channel:{order:1}");
            server.awaitWaiters("order:1", 1);
            Instant before = server.clock().now();
            assertEquals(Collections.emptyList(), server.clock().advance(LEASE.dividedBy(2)).ended());
            Turn turn = server.clock().advance(LEASE);
            assertEquals(Collections.singletonList("order:1"), turn.ended());
            assertEquals(1, turn.woken());
            assertFalse(turn.now().isBefore(before.plus(LEASE)), turn::toString);
        }
        server.awaitFree("order:1");
        server.clock().reset();
        assertTrue(Duration.between(Instant.now(), server.clock().now()).abs().compareTo(Duration.ofMinutes(1)) < 0);
    }

    @Test
    void aTurnDoesWhatThePageShows() throws Exception {
        acquire("orders:42");
        try (Connection waiter = Clients.connect(server)) {
            waiter.call("SUBSCRIBE", "redisson_lock__channel:{orders:42}");
            server.awaitWaiters("orders:42", 1);
            Turn turn = server.clock().advance(Duration.ofHours(1));
            assertEquals(Collections.singletonList("orders:42"), turn.ended());
        }
    }

    @Test
    void aClockThatIsSetBackEndsNothing() {
        acquire("order:1");
        Instant past = Instant.ofEpochMilli(1_700_000_000_000L);
        assertEquals(Collections.emptyList(), server.clock().set(past).ended());
        assertTrue(Duration.between(past, server.clock().now()).compareTo(Duration.ofMinutes(1)) < 0);
        server.awaitHeld("order:1");
        server.reset();
        assertTrue(server.clock().now().isAfter(past.plus(Duration.ofDays(1))));
    }

    @Test
    void aLeaseEnds() {
        acquire("order:1");
        assertEquals(Collections.singletonList(OWNER), server.endLease("order:1"));
        assertEquals(Collections.emptyList(), server.endLease("order:1"));
        assertTrue(server.locks().isEmpty());
    }

    @Test
    void aStateIsWaitedFor() throws Exception {
        CompletableFuture<Void> held = CompletableFuture.runAsync(() -> server.awaitHeld("order:1"));
        acquire("order:1");
        held.get();
        CompletableFuture<Void> free = CompletableFuture.runAsync(() -> server.awaitFree("order:1"));
        server.flush();
        free.get();
        AssertionError failure = assertThrows(AssertionError.class,
                () -> server.await("awaitHeld", Duration.ofMillis(1), "order:1", "HELD"));
        assertEquals("order:1 on " + server.redissonAddress() + " is not HELD within 1 ms: []", failure.getMessage());
    }

    @Test
    void theClockIsTheMachinesInTheNextTest() {
        EndWatch watch = new EndWatch(server);
        watch.begin("a");
        server.clock().advance(Duration.ofDays(365));
        assertNull(watch.end("a", "a"));
        assertTrue(Duration.between(Instant.now(), server.clock().now()).abs().compareTo(Duration.ofMinutes(1)) < 0);
    }

    @Test
    void whatNoClockCanDoIsRefused() {
        ServerClock clock = server.clock();
        assertThrows(IllegalArgumentException.class, () -> clock.advance(Duration.ofMillis(-1)));
        assertThrows(IllegalArgumentException.class, () -> clock.advance(Duration.ofSeconds(Long.MAX_VALUE)));
        assertThrows(LockredisException.class, () -> clock.advance(Duration.ofDays(300 * 365)));
        assertThrows(IllegalArgumentException.class, () -> clock.set(Instant.MAX));
        assertThrows(IllegalArgumentException.class, () -> clock.set(Instant.MIN));
        assertThrows(LockredisException.class, () -> clock.set(Instant.ofEpochMilli(-1)));
        assertThrows(IllegalArgumentException.class, () -> server.awaitWaiters("order:1", -1));
        assertThrows(IllegalArgumentException.class, () -> server.probeWaiters("order:1", Duration.ofMillis(-1)));
        assertThrows(IllegalArgumentException.class, () -> server.probeWaiters("order:1", Duration.ofHours(2)));
        for (Runnable call : Arrays.<Runnable>asList(() -> clock.advance(null), () -> clock.set(null),
                () -> server.endLease(null), () -> server.awaitFree(null))) {
            assertTrue(assertThrows(NullPointerException.class, call::run).getMessage().contains("(null): give"));
        }
        assertEquals(Collections.emptyList(), clock.advance(Duration.ZERO).ended());
    }
}
