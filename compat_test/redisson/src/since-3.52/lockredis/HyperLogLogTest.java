package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.api.RHyperLogLog;
import org.redisson.client.codec.StringCodec;

class HyperLogLogTest extends Family {
    private RHyperLogLog<String> log(String name) {
        return client.getHyperLogLog(name, StringCodec.INSTANCE);
    }

    @Test
    void distinctElementsAreCounted() {
        RHyperLogLog<String> log = log(key);
        assertTrue(log.add("a"));
        assertFalse(log.add("a"));
        assertTrue(log.addAll(List.of("a", "b", "c")));
        assertFalse(log.addAll(List.of("b", "c")));
        assertEquals(3, log.count());
    }

    /** The estimate depends on Redis's hash only, so it is the same number on every server. */
    @Test
    void estimateIsRedissExactly() {
        RHyperLogLog<String> log = log(key);
        log.addAll(IntStream.range(0, 5_000).mapToObj(i -> "e" + i).toList());
        assertEquals(4_968, log.count());
        RHyperLogLog<String> second = log(key + ":2");
        second.addAll(IntStream.range(4_000, 6_000).mapToObj(i -> "e" + i).toList());
        assertEquals(log.countWith(second.getName()), second.countWith(key));
        long union = log.countWith(second.getName());
        RHyperLogLog<String> merged = log(key + ":3");
        merged.add("e1");
        merged.mergeWith(key, second.getName());
        assertEquals(union, merged.count());
    }
}
