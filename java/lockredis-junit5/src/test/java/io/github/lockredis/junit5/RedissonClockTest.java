package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import io.github.lockredis.server.LockredisServer;

/** Leases of real Redisson that end because the server's clock is turned, or because the test says so. */
@Lockredis
class RedissonClockTest {
    private static final Duration LEASE = Duration.ofMinutes(10);

    private static RedissonClient holder;
    private static RedissonClient waiter;

    @BeforeAll
    static void connect(LockredisServer server) {
        holder = Clients.redisson(server);
        waiter = Clients.redisson(server);
    }

    @AfterAll
    static void close() {
        holder.shutdown();
        waiter.shutdown();
    }

    private static RLock lock(RedissonClient client, String kind) {
        switch (kind) {
            case "fair":
                return client.getFairLock(kind);
            case "write":
                return client.getReadWriteLock(kind).writeLock();
            case "read behind write":
                return client.getReadWriteLock(kind).readLock();
            default:
                return client.getLock(kind);
        }
    }

    private static RLock held(String kind) {
        return kind.equals("read behind write") ? holder.getReadWriteLock(kind).writeLock() : lock(holder, kind);
    }

    /** Has a thread wait for a lock that is held for a lease, ends the lease, and waits for the thread. */
    private static void assertWoken(LockredisServer server, String kind, Runnable end) throws Exception {
        held(kind).lock(LEASE.toMillis(), TimeUnit.MILLISECONDS);
        CompletableFuture<Boolean> acquired = CompletableFuture.supplyAsync(() -> {
            RLock lock = lock(waiter, kind);
            lock.lock();
            try {
                return lock.isHeldByCurrentThread();
            } finally {
                lock.unlock();
            }
        });
        server.awaitWaiters(kind, 1);
        end.run();
        assertTrue(acquired.get(LEASE.toMillis() / 2, TimeUnit.MILLISECONDS));
        server.awaitFree(kind);
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair", "write", "read behind write"})
    void aTurnOfTheClockWakesAWaiter(String kind, LockredisServer server) throws Exception {
        assertWoken(server, kind, () ->
                assertEquals(Collections.singletonList(kind), server.clock().advance(LEASE).ended()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair", "write", "read behind write"})
    void theEndOfALeaseWakesAWaiter(String kind, LockredisServer server) throws Exception {
        assertWoken(server, kind, () -> assertEquals(1, server.endLease(kind).size()));
    }
}
