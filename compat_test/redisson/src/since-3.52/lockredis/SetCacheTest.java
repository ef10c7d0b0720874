package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RSetCache;

/** A set whose members expire one by one. */
class SetCacheTest extends Family {
    private final RSetCache<String> set = client.getSetCache(key);

    @Test
    void membersEndAtTheirTime() {
        assertTrue(set.add("a", 2_500, TimeUnit.MILLISECONDS));
        assertFalse(set.add("a", 2_500, TimeUnit.MILLISECONDS));
        assertTrue(set.add("b", 60, TimeUnit.SECONDS));
        assertTrue(set.add("c"));
        assertEquals(3, set.size());
        assertTrue(set.contains("a"));
        Await.untilPast("the end of a", 10_000, () -> !set.contains("a"));
        assertEquals(Set.of("b", "c"), set.readAll());
        assertTrue(set.add("a", 60, TimeUnit.SECONDS));
        assertTrue(set.remove("a"));
        assertFalse(set.remove("a"));
        set.destroy();
    }

    @Test
    void addingMayBeConditional() {
        assertTrue(set.addIfAbsent(Duration.ofSeconds(60), "a"));
        assertFalse(set.addIfAbsent(Duration.ofSeconds(60), "a"));
        assertFalse(set.addIfExists(Duration.ofSeconds(60), "b"));
        assertTrue(set.addIfLess(Duration.ofSeconds(30), "a"));
        assertFalse(set.addIfLess(Duration.ofSeconds(40), "a"));
        assertTrue(set.addIfGreater(Duration.ofSeconds(50), "a"));
        assertFalse(set.addIfGreater(Duration.ofSeconds(20), "a"));
        assertEquals(2, set.addAllIfAbsent(Map.of("a", Duration.ofSeconds(1),
                "b", Duration.ofSeconds(60), "c", Duration.ofMillis(100))));
        assertTrue(set.tryAdd(60, TimeUnit.SECONDS, "d", "e"));
        assertFalse(set.tryAdd(60, TimeUnit.SECONDS, "e", "f"));
        Await.untilPast("the end of c", 5_000, () -> set.size() == 4);
        assertEquals(Set.of("a", "b", "d", "e"), set.readAll());
        set.destroy();
    }
}
