package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.redisson.api.RAtomicDouble;
import org.redisson.api.RAtomicLong;

class AtomicLongTest extends Scenario {
    @Test
    void longIsAtomic() {
        RAtomicLong number = client.getAtomicLong(key);
        assertEquals(0, number.get());
        assertEquals(1, number.incrementAndGet());
        assertEquals(1, number.getAndAdd(41));
        assertTrue(number.compareAndSet(42, Long.MAX_VALUE));
        assertFalse(number.compareAndSet(42, 1));
        assertEquals(Long.MAX_VALUE, number.getAndSet(-5));
        assertEquals(-6, number.decrementAndGet());
        assertTrue(number.delete());
        assertTrue(number.compareAndSet(0, 7));
        number.delete();
    }

    @Test
    void doubleIsAtomic() {
        RAtomicDouble number = client.getAtomicDouble(key);
        assertEquals(0.1, number.addAndGet(0.1), 1e-12);
        assertEquals(0.3, number.addAndGet(0.2), 1e-12);
        number.set(1.5);
        assertTrue(number.compareAndSet(1.5, 2.5));
        assertEquals(2.5, number.getAndSet(0));
        number.delete();
    }
}
