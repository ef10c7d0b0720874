package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.redisson.api.RMapCacheNative;
import org.redisson.api.RSetMultimapCacheNative;

/** A map whose entries expire by deadlines of the hash's fields. */
@OnValkey
class NativeMapCacheValkeyTest extends Scenario {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(2_500);

    private final RMapCacheNative<String, String> map = client.getMapCacheNative(key);

    @Test
    void entryWithTimeToLiveEnds() {
        assertNull(map.put("a", "1", SHORT));
        assertNull(map.put("b", "2"));
        assertEquals("1", map.get("a"));
        Await.until("the entry's end", 10_000, () -> map.get("a") == null);
        assertEquals("2", map.get("b"));
        assertEquals(Set.of("b"), map.readAllKeySet());
    }

    @Test
    void mapEndsWithItsLastEntry() {
        assertTrue(map.fastPut("a", "1", Duration.ofMillis(400)));
        Await.until("the map's end", 5_000, () -> !map.isExists());
    }

    @Test
    void timeToLiveIsTold() {
        map.put("a", "1", LONG);
        map.put("b", "2");
        long rest = map.remainTimeToLive("a");
        assertTrue(rest > 500_000 && rest <= 600_000, "rest " + rest);
        assertEquals(-1, map.remainTimeToLive("b"));
        assertEquals(-2, map.remainTimeToLive("none"));
        Map<String, Long> all = map.remainTimeToLive(Set.of("a", "b"));
        assertTrue(all.get("a") > 500_000);
        assertEquals(-1, all.get("b"));
    }

    @Test
    void clearExpireKeepsTheEntry() {
        map.put("a", "1", LONG);
        assertTrue(map.clearExpire("a"));
        assertEquals(-1, map.remainTimeToLive("a"));
        assertFalse(map.clearExpire("a"));
        assertNull(map.clearExpire("none"));
    }

    @Test
    void putWithoutTimeToLiveRemovesTheOld() {
        map.put("a", "1", LONG);
        assertEquals("1", map.put("a", "2"));
        assertEquals(-1, map.remainTimeToLive("a"));
    }

    @Test
    void putIfAbsentKeepsTheLiving() {
        assertNull(map.putIfAbsent("a", "1", LONG));
        assertEquals("1", map.putIfAbsent("a", "2", LONG));
        assertTrue(map.fastPutIfAbsent("b", "1", LONG));
        assertFalse(map.fastPutIfAbsent("b", "2", LONG));
        assertEquals("1", map.get("b"));
    }

    @Test
    void expireEntryWithConditions() {
        map.putAll(Map.of("a", "1", "b", "2"));
        assertTrue(map.expireEntryIfNotSet("a", LONG));
        assertFalse(map.expireEntryIfNotSet("a", LONG));
        assertFalse(map.expireEntryIfGreater("a", Duration.ofMinutes(5)));
        assertTrue(map.expireEntryIfGreater("a", Duration.ofMinutes(20)));
        assertTrue(map.expireEntryIfLess("a", LONG));
        assertFalse(map.expireEntry("none", LONG));
        assertEquals(2, map.expireEntries(Set.of("a", "b"), LONG));
    }

    @Test
    void putAllGivesEveryEntryATimeToLive() {
        map.putAll(Map.of("a", "1", "b", "2"), SHORT);
        assertEquals(2, map.size());
        Await.until("the map's end", 10_000, () -> map.size() == 0);
    }

    @Test
    void keyOfAMultimapExpires() {
        RSetMultimapCacheNative<String, String> multimap = client.getSetMultimapCacheNative(key + ":multi");
        multimap.put("a", "1");
        multimap.put("a", "2");
        multimap.put("b", "3");
        assertTrue(multimap.expireKey("a", SHORT.toMillis(), java.util.concurrent.TimeUnit.MILLISECONDS));
        assertEquals(Set.of("1", "2"), multimap.getAll("a"));
        Await.until("the key's end", 10_000, () -> !multimap.containsKey("a"));
        assertTrue(multimap.containsKey("b"));
        multimap.delete();
    }
}
