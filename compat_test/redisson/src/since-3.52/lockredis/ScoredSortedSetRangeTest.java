package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.SortOrder;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.ScoredEntry;

/** What a scored sorted set does besides adding: conditions, ranges, set algebra, waiting, iterating. */
class ScoredSortedSetRangeTest extends Family {
    private final RScoredSortedSet<String> set = client.getScoredSortedSet(key);
    private final RScoredSortedSet<String> second = client.getScoredSortedSet(key + ":2");

    @Test
    void addingMayBeConditional() {
        assertEquals(3, set.addAll(Map.of("a", 1.0, "b", 2.0, "c", 3.0)));
        assertFalse(set.addIfAbsent(9, "a"));
        assertFalse(set.addIfExists(9, "z"));
        assertTrue(set.addIfExists(1.5, "a"));
        assertTrue(set.addIfGreater(2.5, "b"));
        assertFalse(set.addIfGreater(0, "b"));
        assertTrue(set.addIfLess(-1, "c"));
        assertEquals(List.of("c", "a", "b"), List.copyOf(set.readAll()));
        assertEquals(2, set.addAllIfGreater(Map.of("a", 8.0, "b", 9.0, "c", -7.0)));
        assertEquals(2, set.addAndGetRank(8.5, "d"));
        assertEquals(0, set.addScoreAndGetRevRank("d", 10));
        assertEquals(Arrays.asList(8.0, 9.0, null), set.getScore(List.of("a", "b", "y")));
        assertTrue(set.replace("c", "cc"));
        assertEquals(-1.0, set.getScore("cc"));
        assertEquals(-Double.MAX_VALUE, scored(-Double.MAX_VALUE));
        assertEquals(1e300 / 3, scored(1e300 / 3));
        assertEquals(0.1 + 0.2, scored(0.1 + 0.2));
        assertEquals(Double.MIN_VALUE, scored(Double.MIN_VALUE));
    }

    private double scored(double score) {
        set.add(score, "x");
        return set.getScore("x");
    }

    @Test
    void rangesByRankAndScore() {
        for (int i = 1; i <= 6; i++) {
            set.add(i, "m" + i);
        }
        assertEquals(List.of("m2", "m3"), List.copyOf(set.valueRange(1, 2)));
        assertEquals(List.of("m6", "m5"), List.copyOf(set.valueRangeReversed(0, 1)));
        assertEquals(List.of("m3", "m4"), List.copyOf(set.valueRange(1, false, 9, true, 1, 2)));
        assertEquals(List.of(new ScoredEntry<>(4.0, "m4"), new ScoredEntry<>(3.0, "m3")),
                List.copyOf(set.entryRangeReversed(3, true, 5, false)));
        assertEquals(3, set.rangeTo(second.getName(), 2, true, 4, true));
        assertEquals(List.of("m2", "m3", "m4"), List.copyOf(second.readAll()));
        assertEquals(2, set.revRangeTo(second.getName(), 0, 1));
        assertEquals(List.of("m5", "m6"), List.copyOf(second.readAll()));
        assertEquals(2, set.removeRangeByScore(1, true, 3, false));
        assertEquals(List.of("m3", "m4"), List.copyOf(set.pollFirst(2)));
        assertEquals(new ScoredEntry<>(6.0, "m6"), set.pollLastEntry());
        assertEquals(5.0, set.firstScore());
        assertTrue(set.retainAll(List.of()));
        assertTrue(set.isEmpty());
    }

    @Test
    void setsAreCombinedByWeightsAndAggregates() {
        set.addAll(Map.of("a", 1.0, "b", 2.0, "c", 3.0));
        second.addAll(Map.of("b", 10.0, "c", 20.0, "d", 30.0));
        assertEquals(List.of("b", "c"), List.copyOf(set.readIntersection(second.getName())));
        assertEquals(List.of("a"), List.copyOf(set.readDiff(second.getName())));
        assertEquals(2, set.countIntersection(second.getName()));
        assertEquals(1, set.countIntersection(1, second.getName()));
        assertEquals(List.of("a", "b", "c", "d"), List.copyOf(set.readUnion(second.getName())));
        RScoredSortedSet<String> result = client.getScoredSortedSet(key + ":3");
        result.add(100, "b");
        assertEquals(4, result.union(RScoredSortedSet.Aggregate.MAX, Map.of(key, 100.0, second.getName(), 1.0)));
        assertEquals(List.of(30.0, 100.0, 200.0, 300.0), result.getScore(List.of("d", "a", "b", "c")));
        assertEquals(2, result.intersection(key, second.getName()));
        assertEquals(List.of(12.0, 23.0), result.getScore(List.of("b", "c")));
        assertEquals(1, result.diff(key, second.getName()));
        assertEquals(1.0, result.getScore("a"));
    }

    @Test
    void pollingWaits() throws Exception {
        assertEquals(List.of(), set.pollFirst(Duration.ofSeconds(1), 2)); // less is for ever
        Future<String> first = actor().begin(set::takeFirst);
        set.add(1, "a");
        assertEquals("a", Actor.result(first));
        Future<String> any = actor().begin(() -> set.pollLastFromAny(15, TimeUnit.SECONDS, second.getName()));
        second.add(2, "b");
        assertEquals("b", Actor.result(any));
        set.addAll(Map.of("c", 1.0, "d", 2.0, "e", 3.0));
        assertEquals(List.of("e", "d"), set.pollLast(Duration.ofSeconds(1), 2));
        assertEquals(Map.of(key, Map.of("c", 1.0)), second.pollFirstEntriesFromAny(Duration.ofSeconds(1), 9, key));
    }

    @Test
    void iterationMeetsEveryMember() {
        set.addAll(IntStream.range(0, 700).boxed().collect(Collectors.toMap(i -> "m" + i, Integer::doubleValue)));
        Set<String> met = new TreeSet<>();
        set.iterator(50).forEachRemaining(met::add);
        assertEquals(700, met.size());
        assertEquals(700, set.stream().count());
        double[] sum = {0};
        set.entryIterator(100).forEachRemaining(entry -> sum[0] += entry.getScore());
        assertEquals(699 * 350.0, sum[0]);
        RScoredSortedSet<String> words = client.getScoredSortedSet(key + ":words", StringCodec.INSTANCE);
        words.addAll(Map.of("10", 3.0, "9", 1.0, "100", 2.0));
        assertEquals(Set.of("10", "100"), words.stream("1*").collect(Collectors.toSet()));
        assertEquals(List.of("9", "10", "100"), List.copyOf(words.readSort(SortOrder.ASC)));
        assertEquals(List.of("9", "100", "10"), List.copyOf(words.readSortAlpha(SortOrder.DESC)));
    }
}
