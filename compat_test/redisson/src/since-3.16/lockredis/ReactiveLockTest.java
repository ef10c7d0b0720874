package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLockReactive;
import org.redisson.api.RPermitExpirableSemaphoreReactive;
import org.redisson.api.RReadWriteLockReactive;
import org.redisson.api.RedissonReactiveClient;
import reactor.core.publisher.Mono;

/** The reactive API. The caller gives the owners' numbers. */
class ReactiveLockTest extends Scenario {
    private final RedissonReactiveClient reactive = client.reactive();

    @Test
    void ownersAreNumbers() {
        RLockReactive lock = reactive.getLock(key);
        done(lock.lock(1));
        assertFalse(done(lock.tryLock(2)));
        CompletableFuture<Boolean> waiting = lock.tryLock(5_000, 10_000, TimeUnit.MILLISECONDS, 2).toFuture();
        done(lock.unlock(1));
        assertTrue(waiting.orTimeout(10, TimeUnit.SECONDS).join());
        assertTrue(done(lock.remainTimeToLive()) > 5_000);
        assertTrue(done(lock.forceUnlock()));
        assertFalse(done(lock.isLocked()));
    }

    @Test
    void otherKindsWorkAlike() {
        RReadWriteLockReactive both = reactive.getReadWriteLock(key);
        done(both.readLock().lock(1));
        assertTrue(done(both.readLock().tryLock(2)));
        assertFalse(done(both.writeLock().tryLock(3)));
        done(both.readLock().unlock(1));
        done(both.readLock().unlock(2));
        RLockReactive fair = reactive.getFairLock(key + ":fair");
        done(fair.lock(10, TimeUnit.SECONDS, 1));
        done(fair.unlock(1));
        RPermitExpirableSemaphoreReactive permits = reactive.getPermitExpirableSemaphore(key + ":permits");
        assertTrue(done(permits.trySetPermits(1)));
        String permit = done(permits.tryAcquire());
        assertTrue(done(permits.tryRelease(permit)));
        assertEquals(1, done(permits.availablePermits()));
    }

    private static <T> T done(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(10));
    }
}
