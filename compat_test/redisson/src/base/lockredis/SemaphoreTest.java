package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RSemaphore;

class SemaphoreTest extends Scenario {
    private final RSemaphore semaphore = client.getSemaphore(key);

    @Test
    void permitsAreTakenAndGivenBack() {
        assertTrue(semaphore.trySetPermits(3));
        assertFalse(semaphore.trySetPermits(9));
        assertTrue(semaphore.tryAcquire(2));
        assertEquals(1, semaphore.availablePermits());
        assertFalse(semaphore.tryAcquire(2));
        semaphore.release(2);
        assertEquals(3, semaphore.availablePermits());
        assertEquals(3, semaphore.drainPermits());
        assertEquals(0, semaphore.availablePermits());
        assertFalse(semaphore.tryAcquire());
    }

    @Test
    void releaseWakesWaiter() throws Exception {
        semaphore.trySetPermits(1);
        semaphore.acquire();
        Future<Void> waiting = actor().beginStep(semaphore::acquire);
        Await.until("the waiter's subscription", 5_000,
                () -> Channels.subscribers(observer(), Channels.semaphore(key)) == 1);
        semaphore.release();
        Actor.result(waiting);
        assertEquals(0, semaphore.availablePermits());
    }

    @Test
    void waitForPermitsEnds() throws Exception {
        semaphore.trySetPermits(1);
        assertFalse(semaphore.tryAcquire(2, 200, TimeUnit.MILLISECONDS));
        assertTrue(semaphore.tryAcquire(1, 20, TimeUnit.SECONDS));
    }
}
