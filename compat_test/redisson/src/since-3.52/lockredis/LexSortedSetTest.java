package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLexSortedSet;

class LexSortedSetTest extends Family {
    private final RLexSortedSet set = client.getLexSortedSet(key);

    @BeforeEach
    void fill() {
        assertTrue(set.addAll(Set.of("g", "b", "e", "a", "d", "c", "f")));
    }

    @Test
    void rangesHaveOpenAndClosedEnds() {
        assertEquals(List.of("b", "c", "d"), List.copyOf(set.range("b", true, "d", true)));
        assertEquals(List.of("c"), List.copyOf(set.range("b", false, "d", false)));
        assertEquals(List.of("d", "c"), List.copyOf(set.rangeReversed("b", false, "d", true)));
        assertEquals(List.of("a", "b"), List.copyOf(set.rangeHead("b", true)));
        assertEquals(List.of("g"), List.copyOf(set.rangeTail("f", false)));
        assertEquals(List.of("g", "f"), List.copyOf(set.rangeTailReversed("f", true)));
        assertEquals(List.of("c", "d"), List.copyOf(set.rangeTail("b", false, 0, 2)));
        assertEquals(List.of("f", "g"), List.copyOf(set.range(5, -1)));
        assertEquals(3, set.count("b", true, "d", true));
        assertEquals(1, set.countHead("b", false));
        assertEquals(2, set.countTail("f", true));
        assertEquals(2, set.rank("c"));
        assertEquals(4, set.revRank("c"));
        assertNull(set.rank("z"));
    }

    @Test
    void rangesAreRemoved() {
        assertEquals(1, set.removeRangeHead("b", false));
        assertEquals(2, set.removeRangeTail("f", true));
        assertEquals(2, set.removeRange("b", true, "d", false));
        assertEquals(List.of("d", "e"), List.copyOf(set.readAll()));
        assertEquals("d", set.pollFirst());
        assertEquals("e", set.pollLast());
        assertNull(set.pollFirst());
    }
}
