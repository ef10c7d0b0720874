package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.redisson.api.RMap;
import org.redisson.client.codec.StringCodec;

class MapTest extends Scenario {
    private final RMap<String, String> map = client.getMap(key);

    @Test
    void entriesArePutReadAndRemoved() {
        assertNull(map.put("a", "1"));
        assertEquals("1", map.put("a", "2"));
        assertEquals("2", map.putIfAbsent("a", "3"));
        assertTrue(map.fastPut("b", "4"));
        assertFalse(map.fastPutIfAbsent("b", "5"));
        assertEquals(2, map.size());
        assertEquals(Map.of("a", "2", "b", "4"), map.readAllMap());
        assertEquals(Map.of("a", "2"), map.getAll(Set.of("a", "z")));
        assertTrue(map.replace("a", "2", "6"));
        assertFalse(map.remove("a", "2"));
        assertEquals("6", map.remove("a"));
        assertEquals(1, map.fastRemove("b", "c"));
        assertTrue(map.isEmpty());
    }

    @Test
    void iterationMeetsEveryEntry() {
        for (int i = 0; i < 700; i++) {
            map.fastPut("k" + i, "v" + i);
        }
        int met = 0;
        for (Map.Entry<String, String> entry : map.entrySet()) {
            assertEquals(entry.getKey().substring(1), entry.getValue().substring(1));
            met++;
        }
        assertEquals(700, met);
        assertTrue(map.containsKey("k699"));
        assertTrue(map.containsValue("v0"));
        map.delete();
    }

    @Test
    void numbersAreAdded() {
        RMap<String, Object> numbers = client.getMap(key, StringCodec.INSTANCE);
        numbers.fastPut("n", "5");
        assertEquals(7, numbers.addAndGet("n", 2));
        numbers.delete();
    }
}
