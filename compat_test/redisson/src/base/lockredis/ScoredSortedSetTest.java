package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScoredSortedSet;

class ScoredSortedSetTest extends Scenario {
    private final RScoredSortedSet<String> set = client.getScoredSortedSet(key);

    @Test
    void membersStandInOrderOfScore() {
        assertTrue(set.add(2.5, "b"));
        assertTrue(set.add(-1, "a"));
        assertFalse(set.tryAdd(9, "a"));
        set.addAll(Map.of("c", 1e10, "d", 1e17));
        assertEquals(List.of("a", "b", "c", "d"), List.copyOf(set.readAll()));
        assertEquals(1, set.rank("b"));
        assertEquals(2, set.revRank("b"));
        assertEquals(2.5, set.getScore("b"));
        assertEquals(1e10, set.getScore("c"));
        assertEquals(4.0, set.addScore("b", 1.5));
        assertEquals(List.of("a", "b"), List.copyOf(set.valueRange(-1, true, 4, true)));
        assertEquals(List.of("a"), List.copyOf(set.valueRange(-1, true, 4, false)));
        assertEquals(2, Integer.parseInt(String.valueOf(set.count(0, false, 1e10, true))));
        assertEquals("a", set.pollFirst());
        assertEquals("d", set.pollLast());
        assertEquals(1, set.removeRangeByRank(0, 0));
        assertEquals("c", set.first());
        assertEquals("c", set.last());
        set.delete();
    }
}
