package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.reactivex.rxjava3.core.Single;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLockRx;
import org.redisson.api.RSemaphoreRx;
import org.redisson.api.RedissonRxClient;

/** The RxJava API. */
class RxLockTest extends Scenario {
    private final RedissonRxClient rx = client.rxJava();

    @Test
    void ownersAreNumbers() throws Exception {
        RLockRx lock = rx.getLock(key);
        lock.lock(1).blockingAwait();
        assertFalse(lock.tryLock(2).blockingGet());
        Single<Boolean> second = lock.tryLock(5_000, 10_000, TimeUnit.MILLISECONDS, 2);
        Future<Boolean> waiting = actor().begin(second::blockingGet);
        lock.unlock(1).blockingAwait();
        assertTrue(Actor.result(waiting));
        lock.unlock(2).blockingAwait();
        assertFalse(lock.isLocked().blockingGet());
    }

    @Test
    void semaphoreWorksAlike() {
        RSemaphoreRx semaphore = rx.getSemaphore(key);
        assertTrue(semaphore.trySetPermits(2).blockingGet());
        semaphore.acquire(2).blockingAwait();
        assertFalse(semaphore.tryAcquire().blockingGet());
        semaphore.release(1).blockingAwait();
        assertEquals(1, semaphore.availablePermits().blockingGet());
    }
}
