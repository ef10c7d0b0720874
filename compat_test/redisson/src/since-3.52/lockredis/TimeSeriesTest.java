package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.redisson.api.RTimeSeries;
import org.redisson.api.TimeSeriesEntry;

/**
 * Values in order of their timestamps. Methods first and last are not called: Redisson takes
 * the value that ends first or last.
 */
class TimeSeriesTest extends Family {
    private final RTimeSeries<String, String> series = client.getTimeSeries(key);

    private static List<String> list(Iterable<String> values) {
        List<String> list = new ArrayList<>();
        values.forEach(list::add);
        return list;
    }

    @Test
    void valuesAreInOrderOfTime() {
        series.addAll(Map.of(30L, "c", 10L, "a", 50L, "e"));
        series.add(20, "b", "label of b");
        series.add(40, "d");
        assertEquals(5, series.size());
        assertEquals(List.of("a", "b", "c", "d", "e"), list(series));
        assertEquals("c", series.get(30));
        assertNull(series.get(31));
        assertEquals(new TimeSeriesEntry<>(20, "b", "label of b"), series.getEntry(20));
        assertEquals(List.of("b", "c", "d"), list(series.range(20, 40)));
        assertEquals(List.of("b", "c"), list(series.range(20, 40, 2)));
        assertEquals(List.of("d", "c", "b"), list(series.rangeReversed(20, 40)));
        assertEquals(List.of(20L, 30L), series.entryRange(15, 35).stream().map(TimeSeriesEntry::getTimestamp).toList());
        assertEquals(List.of("a", "b", "c", "d", "e"), series.stream(2).toList());
    }

    @Test
    void valuesAreTakenFromBothEnds() {
        for (int i = 1; i <= 9; i++) {
            // Redisson polls in the order of the ends, and values that end in one millisecond in any order.
            series.add(i, "v" + i, i % 2 == 0 ? "even" : "odd", Duration.ofMinutes(i));
        }
        assertEquals("v1", series.pollFirst());
        assertEquals(List.of("v8", "v9"), list(series.pollLast(2)).stream().sorted().toList());
        assertEquals(new TimeSeriesEntry<>(2, "v2", "even"), series.pollFirstEntry());
        assertEquals("v5", series.getAndRemove(5));
        assertTrue(series.remove(4));
        assertFalse(series.remove(4));
        assertEquals(2, series.removeRange(6, 7));
        assertEquals(List.of("v3"), list(series));
    }

    @Test
    void valuesWithATimeToLiveEnd() {
        series.add(1, "short", Duration.ofMillis(2_500));
        series.add(2, "long", Duration.ofMinutes(1));
        series.add(3, "for ever");
        assertEquals(3, series.size());
        Await.untilPast("the end of the first value", 10_000, () -> series.size() == 2);
        assertNull(series.get(1));
        assertEquals(List.of("long", "for ever"), list(series.range(0, 10)));
        series.destroy();
    }
}
