package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RMapCache;

/** A map whose entries expire one by one. */
class MapCacheTest extends Scenario {
    private final RMapCache<String, String> map = client.getMapCache(key);

    @Test
    void entryWithTimeToLiveEnds() {
        assertNull(map.put("a", "1", 2_500, TimeUnit.MILLISECONDS));
        assertNull(map.put("b", "2"));
        assertEquals("1", map.get("a"));
        Await.untilPast("the entry's end", 10_000, () -> map.get("a") == null);
        assertEquals("2", map.get("b"));
        assertEquals("2", map.remove("b"));
    }

    @Test
    void idleEntryEndsAndATouchedOneStays() {
        assertTrue(map.fastPut("a", "1", 60, TimeUnit.SECONDS, 2_400, TimeUnit.MILLISECONDS));
        for (int i = 0; i < 3; i++) {
            Await.elapse(900);
            assertEquals("1", map.get("a"));
        }
        Await.elapse(2_500);
        assertNull(map.get("a"));
    }

    @Test
    void putIfAbsentSeesTheLiving() {
        assertTrue(map.fastPutIfAbsent("a", "1", 2_500, TimeUnit.MILLISECONDS));
        assertFalse(map.fastPutIfAbsent("a", "2", 2_500, TimeUnit.MILLISECONDS));
        Await.until("the entry's end", 10_000, () -> map.putIfAbsent("a", "3", 60, TimeUnit.SECONDS) == null);
        assertEquals("3", map.get("a"));
        map.delete();
    }
}
