package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.redisson.api.RLocalCachedMap;
import org.redisson.api.RedissonClient;

/** A map cached in each client: a write by another client must reach the cache through pub/sub. */
class LocalCachedMapTest extends Scenario {
    @Test
    void writeOfOneClientReachesTheOthersCache() {
        RedissonClient other = closing(Clients.open(Server.shared()));
        RLocalCachedMap<String, String> here = Api.localCachedMap(client, key);
        RLocalCachedMap<String, String> there = Api.localCachedMap(other, key);
        here.put("a", "1");
        assertEquals("1", there.get("a"));
        here.put("a", "2");
        Await.until("the new value", 5_000, () -> "2".equals(there.get("a")));
        there.remove("a");
        Await.until("the removal", 5_000, () -> here.get("a") == null);
        here.destroy();
        there.destroy();
    }
}
