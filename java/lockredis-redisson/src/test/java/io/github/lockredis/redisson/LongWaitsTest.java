package io.github.lockredis.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RMapCache;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisServer;
import io.netty.util.Timeout;

/** What tests of lock code sleep for on a real Redis: 90 minutes in all. */
@Lockredis(leaks = LeakMode.ALLOWED)
class LongWaitsTest {
    private static final long PATIENCE = 30;

    private static RedissonClient redisson;
    private static RedissonClient other;
    private static RedissonClock clock;

    @BeforeAll
    static void connect(LockredisServer server) {
        redisson = Clients.redisson(server);
        other = Clients.redisson(server);
        clock = RedissonClock.join(server, redisson, other);
    }

    @AfterAll
    static void disconnect() {
        clock.close();
        redisson.shutdown();
        other.shutdown();
    }

    /** Runs code of another thread, and so of another owner. */
    private static <T> T elsewhere(Supplier<T> code) throws Exception {
        return CompletableFuture.supplyAsync(code, LongWaitsTest::start).get(PATIENCE, TimeUnit.SECONDS);
    }

    private static void start(Runnable code) {
        Thread thread = new Thread(code);
        thread.setDaemon(true);
        thread.start();
    }

    private static boolean isFreeForOthers(RLock lock) throws Exception {
        return elsewhere(() -> lock.tryLock());
    }

    private static CompletableFuture<Void> background(Runnable code) {
        return CompletableFuture.runAsync(code, LongWaitsTest::start);
    }

    @Test
    void aWatchdogRenewsForFiveMinutes() {
        RLock lock = redisson.getLock("watched");
        lock.lock();
        assertEquals(Collections.emptyList(), clock.advance(Duration.ofMinutes(5)).ended());
        assertTrue(lock.isHeldByCurrentThread());
        assertTrue(lock.remainTimeToLive() > 15_000, () -> "a ttl of " + lock.remainTimeToLive());
        lock.unlock();
        clock.advance(Duration.ofMinutes(1));
        assertFalse(lock.isLocked());
    }

    @Test
    void aWatchdogRenewsTheLocksOfAllReaders(LockredisServer server) throws Exception {
        RReadWriteLock lock = redisson.getReadWriteLock("read");
        lock.readLock().lock();
        RLock second = elsewhere(() -> {
            RLock read = redisson.getReadWriteLock("read").readLock();
            read.lock();
            return read;
        });
        assertEquals(Collections.emptyList(), clock.advance(Duration.ofMinutes(5)).ended());
        assertEquals(2, server.locks("read").get(0).holders().size());
        lock.readLock().unlock();
        assertTrue(second.isLocked());
        assertFalse(lock.writeLock().tryLock());
        clock.advance(Duration.ofMinutes(5));
        assertTrue(second.isLocked());
    }

    @Test
    void aWaiterTakesTheLockOfAClientThatCrashed(LockredisServer server) throws Exception {
        RedissonClient crashed = Clients.redisson(server);
        crashed.getLock("crash").lock();
        crashed.shutdown(0, 0, TimeUnit.SECONDS);
        RLock lock = redisson.getLock("crash");
        CompletableFuture<Void> acquired = background(lock::lock);
        server.awaitWaiters("crash", 1);
        assertEquals(Arrays.asList("crash"), clock.advance(Duration.ofSeconds(31)).ended());
        acquired.get(PATIENCE, TimeUnit.SECONDS);
        clock.advance(Duration.ofMinutes(5));
        assertTrue(lock.isLocked());
    }

    @Test
    void aWaiterThatOneTurnWakesIsRenewedInTheSameTurn(LockredisServer server) throws Exception {
        redisson.getLock("renewed").lock(1, TimeUnit.MINUTES);
        RLock lock = redisson.getLock("renewed");
        CompletableFuture<Void> acquired = background(lock::lock);
        server.awaitWaiters("renewed", 1);
        assertEquals(Arrays.asList("renewed"), clock.advance(Duration.ofMinutes(10)).ended());
        acquired.get(PATIENCE, TimeUnit.SECONDS);
        assertTrue(lock.isLocked());
    }

    @Test
    void aTurnEndsTheLeasesOfAllWaitersOneAfterTheOther(LockredisServer server) throws Exception {
        redisson.getLock("chain").lock(1, TimeUnit.MINUTES);
        CompletableFuture<Void> second = background(() -> redisson.getLock("chain").lock(1, TimeUnit.MINUTES));
        CompletableFuture<Void> third = background(() -> other.getLock("chain").lock(1, TimeUnit.MINUTES));
        server.awaitWaiters("chain", 2);
        assertEquals(Arrays.asList("chain", "chain", "chain"), clock.advance(Duration.ofMinutes(4)).ended());
        CompletableFuture.allOf(second, third).get(PATIENCE, TimeUnit.SECONDS);
        assertFalse(redisson.getLock("chain").isLocked());
    }

    @Test
    void aLeaseThatIsShorterThanTheWorkLosesTheLock() throws Exception {
        RLock lock = redisson.getLock("short");
        lock.lock(2, TimeUnit.MINUTES);
        clock.advance(Duration.ofMinutes(3));
        assertTrue(isFreeForOthers(lock));
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
    }

    @Test
    void aDeadWaiterLeavesAFairQueue(LockredisServer server) throws Exception {
        RLock lock = redisson.getFairLock("fair");
        lock.lock();
        RedissonClient dead = Clients.redisson(server);
        CompletableFuture<Void> waiter = background(() -> dead.getFairLock("fair").lock());
        server.awaitWaiters("fair", 1);
        dead.shutdown(0, 0, TimeUnit.SECONDS);
        clock.advance(Duration.ofMinutes(4));
        lock.unlock();
        assertFalse(isFreeForOthers(lock), "the dead waiter is the next");
        clock.advance(Duration.ofMinutes(7));
        assertTrue(isFreeForOthers(lock));
        waiter.cancel(true);
    }

    @Test
    void aPermitExpires() throws Exception {
        RPermitExpirableSemaphore permits = redisson.getPermitExpirableSemaphore("permits");
        permits.trySetPermits(1);
        permits.acquire(5, TimeUnit.MINUTES);
        assertNull(permits.tryAcquire());
        clock.advance(Duration.ofMinutes(5).plusSeconds(1));
        assertNotNull(permits.tryAcquire());
    }

    @Test
    @SuppressWarnings("deprecation") // Redisson 3.16 has no other method
    void aSessionExpires() {
        redisson.getBucket("session").set("user", 30, TimeUnit.MINUTES);
        clock.advance(Duration.ofMinutes(29));
        assertTrue(redisson.getBucket("session").isExists());
        clock.advance(Duration.ofMinutes(1).plusMillis(1));
        assertFalse(redisson.getBucket("session").isExists());
    }

    @Test
    @SuppressWarnings("deprecation") // Redisson 3.16 has no other method
    void aRateLimiterGetsItsPermits() {
        RRateLimiter limiter = redisson.getRateLimiter("limiter");
        limiter.trySetRate(RateType.OVERALL, 1, 10, org.redisson.api.RateIntervalUnit.MINUTES);
        assertTrue(limiter.tryAcquire());
        assertFalse(limiter.tryAcquire());
        clock.advance(Duration.ofMinutes(10).plusSeconds(1));
        assertTrue(limiter.tryAcquire());
    }

    @Test
    void theTaskOfAMapCacheDeletesEntries(LockredisServer server) throws Exception {
        assumeTrue(Arrays.stream(Class.forName("org.redisson.eviction.EvictionTask").getDeclaredFields())
                .anyMatch(field -> field.getType() == Timeout.class), "the task of this release uses no timer");
        RMapCache<String, String> map = redisson.getMapCache("map");
        map.put("key", "value", 1, TimeUnit.MINUTES);
        assertEquals(1L, server.command("HLEN", "map"));
        clock.advance(Duration.ofMinutes(5));
        assertEquals(0L, server.command("HLEN", "map"));
        map.destroy();
    }

    @Test
    void aBlockingCommandOutlastsATurn() throws Exception {
        RBlockingQueue<String> queue = redisson.getBlockingQueue("queue");
        RFuture<String> polled = queue.pollAsync(20, TimeUnit.MINUTES);
        clock.advance(Duration.ofMinutes(10));
        assertFalse(polled.toCompletableFuture().isDone());
        queue.add("order");
        assertEquals("order", polled.toCompletableFuture().get(PATIENCE, TimeUnit.SECONDS));
    }
}
