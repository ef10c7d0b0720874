package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.redisson.api.RList;

class ListTest extends Scenario {
    private final RList<String> list = client.getList(key);

    @Test
    void listIsAJavaList() {
        assertTrue(list.addAll(List.of("a", "b", "c", "a")));
        list.add(1, "x");
        assertEquals(List.of("a", "x", "b", "c", "a"), list.readAll());
        assertEquals("x", list.set(1, "y"));
        assertEquals("b", list.get(2));
        assertEquals(0, list.indexOf("a"));
        assertEquals(4, list.lastIndexOf("a"));
        assertTrue(list.remove("a"));
        assertEquals("y", list.remove(0));
        assertEquals(List.of("b", "c"), list.subList(0, 2));
        assertTrue(list.addAll(1, List.of("p", "q")));
        assertEquals(List.of("b", "p", "q", "c", "a"), list.readAll());
        assertTrue(list.retainAll(List.of("p", "a")));
        assertFalse(list.contains("b"));
        list.trim(0, 0);
        assertEquals(1, list.size());
        list.clear();
        assertTrue(list.isEmpty());
    }
}
