package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;
import org.redisson.api.RMapCache;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RSetCache;
import org.redisson.api.RateType;

import io.github.lockredis.server.LockredisServer;

/** Leases of real Redisson that end because the server's clock is turned, or because the test says so. */
@Lockredis
class RedissonClockTest extends HolderAndWaiter {
    private static final Duration LEASE = Duration.ofMinutes(10);

    private static RLock held(String kind) {
        return kind.equals("read") ? holder.getReadWriteLock(kind).writeLock() : lock(holder, kind);
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
    @ValueSource(strings = {"plain", "fair", "write", "read"})
    void aTurnOfTheClockWakesAWaiter(String kind, LockredisServer server) throws Exception {
        assertWoken(server, kind, () ->
                assertEquals(Collections.singletonList(kind), server.clock().advance(LEASE).ended()));
    }

    @Test
    void aTurnOfTheClockEndsAPermit(LockredisServer server) throws Exception {
        RPermitExpirableSemaphore permits = holder.getPermitExpirableSemaphore("permits");
        permits.trySetPermits(1);
        permits.acquire(LEASE.toMillis(), TimeUnit.MILLISECONDS);
        CompletableFuture<String> acquired = CompletableFuture.supplyAsync(() -> {
            try {
                return waiter.getPermitExpirableSemaphore("permits").acquire();
            } catch (InterruptedException e) {
                throw new CompletionException(e);
            }
        });
        server.awaitWaiters("permits", 1);
        assertEquals(Collections.singletonList("permits"), server.clock().advance(LEASE.plusSeconds(1)).ended());
        permits.release(acquired.get(LEASE.toMillis() / 2, TimeUnit.MILLISECONDS));
    }

    @Test
    void aPermitComesBackByItselfWhileTheClockIsTurned(LockredisServer server) throws Exception {
        server.clock().advance(LEASE);
        RPermitExpirableSemaphore permits = holder.getPermitExpirableSemaphore("permits");
        permits.trySetPermits(1);
        permits.acquire(500, TimeUnit.MILLISECONDS);
        permits.release(waiter.getPermitExpirableSemaphore("permits")
                .tryAcquire(LEASE.toMillis() / 2, LEASE.toMillis(), TimeUnit.MILLISECONDS));
    }

    @Test
    void aTurnOfTheClockGivesARateLimiterItsPermits(LockredisServer server) {
        RRateLimiter limiter = holder.getRateLimiter("limiter");
        limiter.trySetRate(RateType.OVERALL, 1, LEASE);
        assertTrue(limiter.tryAcquire());
        assertFalse(limiter.tryAcquire());
        server.clock().advance(LEASE.plusSeconds(1));
        assertTrue(limiter.tryAcquire());
        assertFalse(limiter.tryAcquire());
    }

    @Test
    void aTurnOfTheClockEndsEntriesOfCaches(LockredisServer server) {
        RMapCache<String, String> map = holder.getMapCache("map");
        RSetCache<String> set = holder.getSetCache("set");
        map.put("first", "value", LEASE.toMillis(), TimeUnit.MILLISECONDS);
        set.add("first", LEASE.toMillis(), TimeUnit.MILLISECONDS);
        server.clock().advance(LEASE.dividedBy(2));
        map.put("second", "value", LEASE.toMillis(), TimeUnit.MILLISECONDS);
        set.add("second", LEASE.toMillis(), TimeUnit.MILLISECONDS);
        assertEquals("value", map.get("first"));
        assertTrue(set.contains("first"));
        server.clock().advance(LEASE.dividedBy(2).plusSeconds(1));
        assertNull(map.get("first"));
        assertFalse(set.contains("first"));
        assertEquals("value", map.get("second"));
        assertTrue(set.contains("second"));
        assertTrue(map.remainTimeToLive("second") <= LEASE.toMillis() / 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair", "write", "read"})
    void theEndOfALeaseWakesAWaiter(String kind, LockredisServer server) throws Exception {
        assertWoken(server, kind, () -> assertEquals(1, server.endLease(kind).size()));
    }
}
