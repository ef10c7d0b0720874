package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBitSet;
import org.redisson.api.bitset.BitFieldArgs;
import org.redisson.api.bitset.BitFieldOverflow;
import org.redisson.api.bitset.BitOffset;

/** Several fields of a bit set in one command. */
class BitFieldTest extends Family {
    private final RBitSet bits = client.getBitSet(key);

    @Test
    void fieldsAreSetReadAndIncrementedInOneCommand() {
        assertEquals(List.of(0L, 255L, -1L, 4L), bits.bitField(BitFieldArgs.create()
                .setUnsigned(8, BitOffset.bit(8), 255)
                .getUnsigned(8, BitOffset.index(1))
                .getSigned(8, BitOffset.index(1))
                .incrementUnsignedBy(4, BitOffset.index(9), 4)));
        assertEquals(List.of(4L), bits.bitField(BitFieldArgs.create().getUnsigned(4, BitOffset.bit(36))));
    }

    @Test
    void overflowWrapsSaturatesOrFails() {
        bits.bitField(BitFieldArgs.create().setSigned(5, BitOffset.bit(0), 14));
        assertEquals(List.of(-15L), bits.bitField(BitFieldArgs.create()
                .overflow(BitFieldOverflow.WRAP).incrementSignedBy(5, BitOffset.bit(0), 3)));
        assertEquals(List.of(-16L), bits.bitField(BitFieldArgs.create()
                .overflow(BitFieldOverflow.SAT).incrementSignedBy(5, BitOffset.bit(0), -9)));
        assertEquals(Arrays.asList(null, -16L), bits.bitField(BitFieldArgs.create()
                .overflow(BitFieldOverflow.FAIL).incrementSignedBy(5, BitOffset.bit(0), -1)
                .getSigned(5, BitOffset.bit(0))));
    }
}
