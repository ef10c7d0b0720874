package lockredis;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.redisson.api.RMap;
import org.redisson.api.listener.MapPutListener;
import org.redisson.api.listener.MapRemoveListener;

/** Listeners of a map, which 4.7 gives a second argument. It is null without Redis 8's events of fields. */
class MapListenerTest extends Family {
    @Test
    void putsAndRemovalsAreHeard() {
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        RMap<String, String> map = client.getMap(key);
        map.addListener((MapPutListener) (name, field) -> heard.add("put " + name));
        map.addListener((MapRemoveListener) (name, field) -> heard.add("remove " + name));
        map.fastPut("a", "1");
        Await.until("the put", 10_000, () -> heard.contains("put " + key));
        map.fastPut("b", "2");
        map.fastRemove("a");
        Await.until("the removal", 10_000, () -> heard.contains("remove " + key));
    }
}
