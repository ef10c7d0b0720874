package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBloomFilter;
import org.redisson.client.RedisException;

/** Redisson's own Bloom filter: bits in a string, its settings in a hash. */
class BloomFilterTest extends Family {
    private final RBloomFilter<String> filter = client.getBloomFilter(key);

    @Test
    void everyAddedElementIsFound() {
        assertTrue(filter.tryInit(2_000, 0.01));
        assertFalse(client.<String>getBloomFilter(key).tryInit(10, 0.5));
        assertEquals(2_000, filter.getExpectedInsertions());
        assertEquals(0.01, filter.getFalseProbability());
        assertEquals(19_170, filter.getSize());
        assertEquals(7, filter.getHashIterations());
        assertTrue(filter.add("a"));
        assertFalse(filter.add("a"));
        assertTrue(filter.contains("a"));
        assertFalse(filter.contains("b"));
        List<String> many = IntStream.range(0, 1_000).mapToObj(i -> "e" + i).toList();
        assertTrue(filter.add(many) > 990);
        assertEquals(1_000, filter.contains(many));
        long wrong = filter.contains(IntStream.range(0, 1_000).mapToObj(i -> "other" + i).toList());
        assertTrue(wrong < 30, wrong + " of 1,000 false positives");
        long counted = filter.count();
        assertTrue(counted > 950 && counted < 1_050, "count " + counted);
    }

    @Test
    void settingsAreGuarded() {
        assertThrows(RedisException.class, () -> filter.add("a"));
        filter.tryInit(100, 0.03);
        filter.add("a");
        assertTrue(filter.expire(java.time.Duration.ofMinutes(5)));
        assertTrue(filter.remainTimeToLive() > 200_000);
        filter.rename(key + ":2");
        assertTrue(client.<String>getBloomFilter(key + ":2").contains("a"));
        assertTrue(client.getBloomFilter(key + ":2").delete());
        assertEquals(0, observer().keys("*" + key + "*").size());
    }
}
