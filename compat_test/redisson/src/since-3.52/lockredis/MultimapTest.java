package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RListMultimap;
import org.redisson.api.RListMultimapCache;
import org.redisson.api.RLock;
import org.redisson.api.RMultimapCache;
import org.redisson.api.RSetMultimap;
import org.redisson.api.RSetMultimapCache;

/** Maps whose values are lists or sets, with and without lifetimes of their keys. */
class MultimapTest extends Family {
    @Test
    void valuesOfAListMultimapKeepTheirOrder() {
        RListMultimap<String, Integer> map = client.getListMultimap(key);
        assertTrue(map.put("a", 1));
        assertTrue(map.put("a", 1));
        assertTrue(map.putAll("a", List.of(3, 2)));
        assertTrue(map.put("b", 9));
        assertEquals(5, map.size());
        assertEquals(2, map.keySize());
        assertEquals(List.of(1, 1, 3, 2), map.getAll("a"));
        assertEquals(3, map.get("a").get(2));
        assertTrue(map.containsEntry("a", 3));
        assertTrue(map.containsValue(9));
        assertFalse(map.containsKey("c"));
        assertTrue(map.remove("a", 1));
        assertEquals(List.of(1, 3, 2), map.replaceValues("a", List.of(7, 8)));
        assertEquals(List.of(7, 8, 9), map.values().stream().sorted().toList());
        assertEquals(Set.of(Map.entry("a", 7), Map.entry("a", 8), Map.entry("b", 9)),
                Set.copyOf(map.entries().stream().map(e -> Map.entry(e.getKey(), e.getValue())).toList()));
        assertEquals(List.of(7, 8), map.removeAll("a"));
        assertEquals(1, map.fastRemove("b", "c"));
        assertTrue(map.isEmpty());
        assertEquals(0, observer().keys("*" + key + "*").size());
    }

    @Test
    void valuesOfASetMultimapAreDistinct() {
        RSetMultimap<String, String> map = client.getSetMultimap(key);
        assertTrue(map.put("a", "1"));
        assertFalse(map.put("a", "1"));
        assertTrue(map.putAll("a", List.of("1", "2")));
        assertFalse(map.putAll("a", List.of("1", "2")));
        map.put("b", "3");
        assertEquals(Set.of("1", "2"), map.getAll("a"));
        assertEquals(Set.of("a", "b"), map.readAllKeySet());
        assertEquals(Set.of("a", "b"), new TreeSet<>(map.keySet()));
        map.fastReplaceValues("a", List.of("4"));
        assertEquals(Set.of("4"), map.get("a").readAll());
        assertEquals(2, map.size());
        assertTrue(map.remove("a", "4"));
        assertFalse(map.containsKey("a"));
        RLock lock = map.getLock("b");
        lock.lock();
        assertTrue(lock.isHeldByCurrentThread());
        lock.unlock();
        map.rename(key + ":2");
        assertEquals(Set.of("3"), client.<String, String>getSetMultimap(key + ":2").getAll("b"));
        map.delete();
    }

    @Test
    void keysOfACacheExpire() {
        RListMultimapCache<String, String> lists = client.getListMultimapCache(key);
        RSetMultimapCache<String, String> sets = client.getSetMultimapCache(key + ":sets");
        keysExpire(lists);
        keysExpire(sets);
        lists.destroy();
        sets.destroy();
    }

    private void keysExpire(RMultimapCache<String, String> map) {
        map.putAll("a", List.of("1", "2"));
        map.put("b", "3");
        assertEquals(2, map.getAll("a").size());
        assertTrue(map.expireKey("a", 200, TimeUnit.MILLISECONDS));
        assertTrue(map.expireKey("b", 60, TimeUnit.SECONDS));
        assertFalse(map.expireKey("c", 60, TimeUnit.SECONDS));
        Await.untilPast("the end of a", 5_000, () -> !map.containsKey("a"));
        assertEquals(0, map.getAll("a").size());
        assertEquals(List.of("3"), List.copyOf(map.getAll("b")));
        assertTrue(map.expire(java.time.Duration.ofMinutes(1)));
        assertTrue(map.remainTimeToLive() > 50_000);
        assertTrue(map.clearExpire());
        assertTrue(map.delete());
        assertEquals(0, map.size());
    }
}
