package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;

/** Locks that refuse their own holder. */
class NonReentrantLockTest extends Scenario {
    private void refusesItsHolder(Function<String, RLock> kind) throws Exception {
        RLock lock = kind.apply(key);
        Actor other = actor();
        lock.lock();
        assertThrows(Exception.class, lock::lock);
        assertThrows(Exception.class, () -> lock.tryLock());
        assertEquals(1, lock.getHoldCount());
        Future<Boolean> waiting = other.begin(() -> lock.tryLock(10, TimeUnit.SECONDS));
        lock.unlock();
        assertTrue(Actor.result(waiting));
        other.tell(lock::unlock);
        assertFalse(lock.isLocked());
    }

    @Test
    void plain() throws Exception {
        refusesItsHolder(client::getNonReentrantLock);
    }

    @Test
    void fair() throws Exception {
        refusesItsHolder(client::getNonReentrantFairLock);
    }
}
