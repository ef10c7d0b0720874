package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.EvictionMode;
import org.redisson.api.RMapCache;
import org.redisson.api.map.event.EntryCreatedListener;
import org.redisson.api.map.event.EntryExpiredListener;
import org.redisson.api.map.event.EntryRemovedListener;
import org.redisson.api.map.event.EntryUpdatedListener;

/** Events, sizes and lifetimes of the entries of a map cache. */
class MapCacheEntryTest extends Family {
    private final RMapCache<String, String> map = client.getMapCache(key);

    @Test
    void everyChangeIsAnEvent() {
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        map.addListener((EntryCreatedListener<String, String>) e -> heard.add("created " + e.getKey() + e.getValue()));
        map.addListener((EntryUpdatedListener<String, String>) e ->
                heard.add("updated " + e.getKey() + e.getOldValue() + e.getValue()));
        map.addListener((EntryRemovedListener<String, String>) e -> heard.add("removed " + e.getKey() + e.getOldValue()));
        map.addListener((EntryExpiredListener<String, String>) e -> heard.add("expired " + e.getKey() + e.getValue()));
        map.put("a", "1", 10, TimeUnit.SECONDS);
        map.put("a", "2");
        map.fastPut("b", "3", 200, TimeUnit.MILLISECONDS);
        map.remove("a");
        Await.until("four events", 10_000, () -> heard.size() >= 4);
        assertEquals(Set.of("created a1", "updated a12", "created b3", "removed a2"), Set.copyOf(heard));
        // The eviction of the release runs at its own time: after 5 s at the earliest.
        Await.until("the last event", 20_000, () -> heard.contains("expired b3"));
        assertEquals(5, heard.size());
        map.destroy();
    }

    @Test
    void lifetimeOfAnEntryIsReadAndChanged() {
        map.put("a", "1", 60, TimeUnit.SECONDS);
        map.put("b", "2");
        assertEquals(-1, map.remainTimeToLive("b"));
        assertEquals(-2, map.remainTimeToLive("c"));
        long left = map.remainTimeToLive("a");
        assertTrue(left > 50_000 && left <= 60_000, left + " ms");
        assertTrue(map.expireEntry("a", Duration.ofMinutes(5), Duration.ZERO));
        assertTrue(map.remainTimeToLive("a") > 200_000);
        assertFalse(map.expireEntryIfNotSet("a", Duration.ofMillis(10), Duration.ZERO));
        assertTrue(map.expireEntryIfNotSet("b", Duration.ofMillis(50), Duration.ZERO));
        assertFalse(map.expireEntry("c", Duration.ofMinutes(5), Duration.ZERO));
        Await.untilPast("the end of b", 5_000, () -> !map.containsKey("b"));
        assertEquals(Map.of("a", "1"), map.readAllMap());
        assertEquals(Map.of("a", "1"), map.getAllWithTTLOnly(Set.of("a", "b")));
        map.putAll(Map.of("x", "8", "y", "9"), 50, TimeUnit.MILLISECONDS);
        Await.untilPast("the end of both", 5_000, () -> map.getAll(Set.of("x", "y")).isEmpty());
        assertNull(map.getWithTTLOnly("x"));
        map.destroy();
    }

    @Test
    void fullMapDropsTheEntryLeastRecentlyUsed() {
        assertTrue(map.trySetMaxSize(3));
        assertFalse(map.trySetMaxSize(9));
        for (String k : List.of("a", "b", "c")) {
            map.put(k, k);
            Await.elapse(2); // the order of use is by milliseconds
        }
        map.get("a");
        Await.elapse(2);
        map.put("d", "d");
        assertEquals(Set.of("a", "c", "d"), map.readAllKeySet());
        map.destroy();
    }

    @Test
    void fullMapDropsTheEntryLeastFrequentlyUsed() {
        map.setMaxSize(2, EvictionMode.LFU);
        map.put("a", "1");
        map.put("b", "2");
        for (int i = 0; i < 3; i++) {
            map.get("a");
        }
        map.get("b");
        map.put("c", "3");
        assertEquals(Set.of("a", "c"), map.readAllKeySet());
        map.destroy();
    }

    @Test
    void valuesAreComputedForATime() {
        assertEquals("1", map.computeIfAbsent("a", Duration.ofMinutes(1), k -> "1"));
        assertEquals("1", map.computeIfAbsent("a", Duration.ofMinutes(1), k -> "2"));
        assertTrue(map.remainTimeToLive("a") > 50_000);
        assertEquals("1+", map.compute("a", Duration.ofMinutes(9), (k, v) -> v + "+"));
        assertTrue(map.remainTimeToLive("a") > 500_000);
        assertEquals("1++", map.merge("a", "+", String::concat));
        assertTrue(map.replace("a", "1++", "2"));
        assertEquals("2", map.remove("a"));
        map.destroy();
    }
}
