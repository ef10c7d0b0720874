package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.redisson.api.RSet;

class SetTest extends Scenario {
    private final RSet<String> set = client.getSet(key);

    @Test
    void setIsAJavaSet() {
        assertTrue(set.add("a"));
        assertFalse(set.add("a"));
        assertTrue(set.addAll(Set.of("b", "c")));
        assertTrue(set.contains("c"));
        assertEquals(Set.of("a", "b", "c"), set.readAll());
        assertTrue(set.remove("a"));
        assertTrue(set.retainAll(Set.of("b")));
        assertEquals("b", set.removeRandom());
        assertTrue(set.isEmpty());
    }

    @Test
    void setsAreCombined() {
        RSet<String> other = client.getSet(key + ":other");
        set.addAll(Set.of("a", "b", "c"));
        other.addAll(Set.of("b", "c", "d"));
        assertEquals(Set.of("b", "c"), set.readIntersection(other.getName()));
        assertEquals(Set.of("a", "b", "c", "d"), set.readUnion(other.getName()));
        assertEquals(Set.of("a"), set.readDiff(other.getName()));
        assertTrue(set.move(other.getName(), "a"));
        assertEquals(4, other.size());
        set.delete();
        other.delete();
    }

    @Test
    void iterationMeetsEveryMember() {
        TreeSet<String> wanted = new TreeSet<>();
        for (int i = 0; i < 700; i++) {
            wanted.add("m" + i);
        }
        set.addAll(wanted);
        TreeSet<String> met = new TreeSet<>();
        set.iterator().forEachRemaining(met::add);
        assertEquals(wanted, met);
        set.delete();
    }
}
