package lockredis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBitSet;

class BitSetTest extends Family {
    private final RBitSet bits = client.getBitSet(key);

    private static BitSet of(int... set) {
        BitSet bits = new BitSet();
        for (int i : set) {
            bits.set(i);
        }
        return bits;
    }

    @Test
    void bitsAreSetReadAndCounted() {
        assertFalse(bits.set(3));
        assertTrue(bits.set(3, true));
        bits.set(8, 16);
        assertEquals(9, bits.cardinality());
        assertEquals(16, bits.length());
        assertEquals(16, bits.size());
        assertArrayEquals(new boolean[]{true, false, true}, bits.get(3, 4, 15));
        bits.clear(9, 16);
        assertEquals(of(3, 8), bits.asBitSet());
        assertArrayEquals(new byte[]{0x10, (byte) 0x80}, bits.toByteArray());
        assertTrue(bits.clear(3));
        assertEquals(9, bits.length());
        bits.set(new long[]{1, 70}, true);
        assertEquals(of(1, 8, 70), bits.asBitSet());
        bits.set(of(0, 100));
        assertEquals(of(0, 100), bits.asBitSet());
        assertFalse(bits.get(4_000_000_000L));
        bits.clear();
        assertFalse(bits.isExists());
        assertEquals(0, bits.length());
    }

    @Test
    void bitSetsAreCombined() {
        RBitSet second = client.getBitSet(key + ":2");
        bits.set(of(1, 2, 9));
        second.set(of(2, 3, 20));
        assertEquals(3, bits.or(second.getName()));
        assertEquals(of(1, 2, 3, 9, 20), bits.asBitSet());
        assertEquals(3, bits.and(second.getName()));
        assertEquals(of(2, 3, 20), bits.asBitSet());
        bits.set(5);
        assertEquals(3, bits.xor(second.getName()));
        assertEquals(of(5), bits.asBitSet());
        bits.not();
        assertEquals(23, bits.cardinality());
        assertFalse(bits.get(5));
    }

    @Test
    void integersHaveTheirWidthAndSign() {
        assertEquals(0, bits.setSigned(5, 3, -16));
        assertEquals(-16, bits.getSigned(5, 3));
        assertEquals(16, bits.getUnsigned(5, 3));
        assertEquals(15, bits.incrementAndGetSigned(5, 3, -1)); // wraps
        assertEquals(15, bits.setUnsigned(5, 3, 31));
        assertEquals(0, bits.incrementAndGetUnsigned(5, 3, 1));
        assertEquals(0, bits.setByte(64, (byte) -128));
        assertEquals(127, bits.incrementAndGetByte(64, (byte) -1));
        assertEquals(0, bits.setShort(80, Short.MIN_VALUE));
        assertEquals(Short.MIN_VALUE, bits.getShort(80));
        assertEquals(0, bits.setInteger(96, Integer.MAX_VALUE));
        assertEquals(Integer.MIN_VALUE, bits.incrementAndGetInteger(96, 1));
        assertEquals(0, bits.setLong(128, Long.MIN_VALUE));
        assertEquals(Long.MIN_VALUE, bits.setLong(128, Long.MAX_VALUE));
        assertEquals(Long.MIN_VALUE, bits.incrementAndGetLong(128, 1));
        assertEquals((192L), bits.size());
    }
}
