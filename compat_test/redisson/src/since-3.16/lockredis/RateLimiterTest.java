package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateIntervalUnit;
import org.redisson.api.RateType;

class RateLimiterTest extends Scenario {
    private final RRateLimiter limiter = client.getRateLimiter(key);

    @Test
    void rateIsKept() {
        assertTrue(limiter.trySetRate(RateType.OVERALL, 3, 3, RateIntervalUnit.SECONDS));
        assertFalse(limiter.trySetRate(RateType.OVERALL, 9, 1, RateIntervalUnit.SECONDS));
        assertTrue(limiter.tryAcquire(2));
        assertTrue(limiter.tryAcquire());
        assertFalse(limiter.tryAcquire());
        assertEquals(0, limiter.availablePermits());
        long start = System.nanoTime();
        limiter.acquire();
        long waited = (System.nanoTime() - start) / 1_000_000;
        assertTrue(waited > 500 && waited < 10_000, "waited " + waited + " ms");
    }

    @Test
    void waitForPermitsEnds() {
        limiter.trySetRate(RateType.PER_CLIENT, 1, 5, RateIntervalUnit.SECONDS);
        assertTrue(limiter.tryAcquire(100, TimeUnit.MILLISECONDS));
        assertFalse(limiter.tryAcquire(100, TimeUnit.MILLISECONDS));
        assertEquals(3L, rateAfter(3));
    }

    private long rateAfter(long rate) {
        limiter.setRate(RateType.OVERALL, rate, 1, RateIntervalUnit.SECONDS);
        assertTrue(limiter.tryAcquire(rate));
        return limiter.getConfig().getRate();
    }
}
