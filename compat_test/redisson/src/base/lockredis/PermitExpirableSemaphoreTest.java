package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RPermitExpirableSemaphore;

/** Permits with an id, some with a lease. */
class PermitExpirableSemaphoreTest extends Scenario {
    private final RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore(key);

    @Test
    void permitIsReleasedByItsIdOnce() throws Exception {
        assertTrue(semaphore.trySetPermits(2));
        String first = semaphore.acquire();
        String second = semaphore.tryAcquire();
        assertNotNull(second);
        assertNull(semaphore.tryAcquire());
        assertTrue(semaphore.tryRelease(first));
        assertFalse(semaphore.tryRelease(first));
        assertEquals(1, semaphore.availablePermits());
        semaphore.release(second);
        assertEquals(2, semaphore.availablePermits());
    }

    @Test
    void leasedPermitComesBackByItself() throws Exception {
        semaphore.trySetPermits(1);
        String permit = semaphore.acquire(2_500, TimeUnit.MILLISECONDS);
        assertNull(semaphore.tryAcquire());
        Future<String> waiting = actor().begin(() -> semaphore.tryAcquire(10, TimeUnit.SECONDS));
        assertNotNull(Actor.result(waiting));
        assertFalse(semaphore.tryRelease(permit));
    }

    @Test
    void releaseWakesWaiter() throws Exception {
        semaphore.trySetPermits(1);
        String permit = semaphore.acquire();
        Future<String> waiting = actor().begin(semaphore::acquire);
        Await.until("the waiter's subscription", 5_000,
                () -> Channels.subscribers(observer(), Channels.semaphore(key)) == 1);
        semaphore.release(permit);
        assertNotNull(Actor.result(waiting));
    }

    @Test
    void permitsCanBeAdded() {
        semaphore.trySetPermits(1);
        assertNotNull(semaphore.tryAcquire());
        semaphore.addPermits(2);
        assertEquals(2, semaphore.availablePermits());
    }
}
