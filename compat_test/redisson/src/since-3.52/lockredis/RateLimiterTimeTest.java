package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;

/** Whose permits they are, how long the limiter is kept, and permits that are given back. */
class RateLimiterTimeTest extends Family {
    private final RRateLimiter limiter = client.getRateLimiter(key);
    private final RedissonClient other = closing(Clients.open(Server.shared()));
    private final RRateLimiter there = other.getRateLimiter(key);

    @Test
    void overallRateIsShared() {
        assertTrue(limiter.trySetRate(RateType.OVERALL, 4, Duration.ofMinutes(1)));
        assertTrue(limiter.tryAcquire(3));
        assertFalse(there.tryAcquire(2));
        assertTrue(there.tryAcquire());
        assertEquals(0, limiter.availablePermits());
        limiter.release(2);
        assertEquals(2, there.availablePermits());
        assertTrue(there.tryAcquire(2));
        assertFalse(limiter.tryAcquire(Duration.ofMillis(50)));
        assertEquals(60_000L, limiter.getConfig().getRateInterval());
    }

    @Test
    void eachClientHasARate() {
        assertTrue(limiter.trySetRate(RateType.PER_CLIENT, 2, Duration.ofMinutes(1)));
        assertTrue(limiter.tryAcquire(2));
        assertFalse(limiter.tryAcquire());
        assertTrue(there.tryAcquire(2));
        assertFalse(there.tryAcquire());
    }

    @Test
    void permitsComeBackOneByOne() {
        limiter.trySetRate(RateType.OVERALL, 2, Duration.ofMillis(800));
        long first = System.nanoTime();
        assertTrue(limiter.tryAcquire());
        Await.elapse(300);
        assertTrue(limiter.tryAcquire());
        assertTrue(limiter.tryAcquire(Duration.ofSeconds(10)));
        long waited = (System.nanoTime() - first) / 1_000_000;
        assertTrue(waited >= 790, "the first permit is free again after 800 ms, not " + waited);
    }

    @Test
    void unusedLimiterEnds() {
        assertTrue(limiter.trySetRate(RateType.OVERALL, 2, Duration.ofMillis(100), Duration.ofMillis(2_500)));
        assertTrue(limiter.tryAcquire());
        long left = limiter.remainTimeToLive();
        assertTrue(left > 0 && left <= 2_500, left + " ms");
        Await.until("the end of the limiter", 10_000, () -> !limiter.isExists());
        assertTrue(limiter.trySetRate(RateType.OVERALL, 5, Duration.ofSeconds(10)));
        assertEquals(5, limiter.getConfig().getRate());
        limiter.setRate(RateType.OVERALL, 7, Duration.ofSeconds(10));
        assertEquals(7, limiter.availablePermits());
    }
}
