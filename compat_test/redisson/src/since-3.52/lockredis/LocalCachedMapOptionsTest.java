package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLocalCachedMap;
import org.redisson.api.RedissonClient;
import org.redisson.api.listener.LocalCacheInvalidateListener;
import org.redisson.api.listener.LocalCacheUpdateListener;
import org.redisson.api.options.LocalCachedMapOptions;
import org.redisson.api.options.LocalCachedMapOptions.EvictionPolicy;
import org.redisson.api.options.LocalCachedMapOptions.StoreMode;
import org.redisson.api.options.LocalCachedMapOptions.SyncStrategy;

/** What is in the caches of two clients, by the options of the map. */
class LocalCachedMapOptionsTest extends Family {
    private final RedissonClient other = closing(Clients.open(Server.shared()));
    private RLocalCachedMap<String, String> here;
    private RLocalCachedMap<String, String> there;

    private void open(UnaryOperator<LocalCachedMapOptions<String, String>> options) {
        here = client.getLocalCachedMap(options.apply(LocalCachedMapOptions.name(key)));
        there = other.getLocalCachedMap(options.apply(LocalCachedMapOptions.name(key)));
        closing(() -> {
            here.destroy();
            there.destroy();
        });
    }

    @Test
    void writesInvalidateOtherCaches() {
        open(options -> options.syncStrategy(SyncStrategy.INVALIDATE));
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        there.addListener((LocalCacheInvalidateListener<String, String>) (k, v) -> heard.add(k + "=" + v));
        client.getMap(key).putAll(Map.of("a", "0", "b", "0")); // past the caches
        assertEquals(Map.of("a", "0", "b", "0"), there.getAll(Set.of("a", "b")));
        assertEquals(Set.of("a", "b"), there.cachedKeySet());
        here.putAll(Map.of("a", "1", "b", "2"));
        // Only then: an invalidation that comes later would empty the cache once more.
        Await.until("the invalidation of both", 10_000, () -> there.cachedKeySet().isEmpty());
        assertEquals(Map.of("a", "1", "b", "2"), there.getAll(Set.of("a", "b")));
        assertEquals(Set.of("a", "b"), there.cachedKeySet());
        here.fastPut("a", "3");
        Await.until("the invalidation", 10_000, () -> there.cachedKeySet().equals(Set.of("b")));
        Await.until("its event", 10_000, () -> heard.contains("a=1"));
        assertEquals("3", there.get("a"));
        here.fastRemove("a", "b");
        Await.until("an empty cache", 10_000, () -> there.cachedKeySet().isEmpty());
        assertTrue(there.isEmpty());
    }

    @Test
    void writesUpdateOtherCaches() {
        open(options -> options.syncStrategy(SyncStrategy.UPDATE));
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        there.addListener((LocalCacheUpdateListener<String, String>) (k, v) -> heard.add(k + "=" + v));
        here.put("a", "1");
        here.put("b", "2");
        Await.until("both values", 10_000, () -> there.getCachedMap().equals(Map.of("a", "1", "b", "2")));
        Await.until("their events", 10_000, () -> heard.containsAll(Set.of("a=1", "b=2")));
        here.clearLocalCache();
        Await.until("the clearing there", 10_000, () -> there.cachedKeySet().isEmpty());
        assertEquals(2, there.size());
        there.preloadCache();
        assertEquals(Map.of("a", "1", "b", "2"), there.getCachedMap());
    }

    @Test
    void cacheIsBoundedAndEntriesOfItEnd() {
        open(options -> options.syncStrategy(SyncStrategy.NONE).cacheSize(2).evictionPolicy(EvictionPolicy.LRU)
                .timeToLive(Duration.ofMillis(2_500)));
        here.putAll(Map.of("a", "1", "b", "2", "c", "3"));
        assertEquals(2, here.cachedKeySet().size());
        assertEquals("1", there.get("a"));
        here.fastPut("a", "9");
        assertEquals("1", there.getCachedMap().get("a")); // no synchronization
        Await.until("the end in the cache", 10_000, () -> "9".equals(there.get("a")));
    }

    @Test
    void mapMayBeLocalOnlyAndMissesBeKept() {
        RLocalCachedMap<String, String> local = client.getLocalCachedMap(
                LocalCachedMapOptions.<String, String>name(key).storeMode(StoreMode.LOCALCACHE));
        local.put("a", "1");
        assertEquals("1", local.get("a"));
        assertFalse(observer().exists(key));
        local.destroy();
        open(options -> options.storeCacheMiss(true));
        assertNull(here.get("x"));
        client.getMap(key).put("x", "unseen"); // past the caches
        assertNull(here.get("x"));
        assertEquals("unseen", there.get("x"));
        there.put("x", "seen");
        Await.until("the new value", 10_000, () -> "seen".equals(here.get("x")));
    }
}
