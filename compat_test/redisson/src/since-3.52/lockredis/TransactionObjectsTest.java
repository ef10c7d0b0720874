package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBucket;
import org.redisson.api.RLocalCachedMap;
import org.redisson.api.RMap;
import org.redisson.api.RMapCache;
import org.redisson.api.RSet;
import org.redisson.api.RSetCache;
import org.redisson.api.RTransaction;
import org.redisson.api.RedissonClient;
import org.redisson.api.TransactionOptions;
import org.redisson.api.options.LocalCachedMapOptions;
import org.redisson.transaction.TransactionTimeoutException;

/** Every object that a transaction has, seen from inside and outside. */
class TransactionObjectsTest extends Family {
    private RTransaction begin() {
        return client.createTransaction(TransactionOptions.defaults());
    }

    @Test
    void mapSeesItsOwnChanges() {
        RMap<String, String> map = client.getMap(key);
        map.putAll(Map.of("a", "1", "b", "2", "c", "3"));
        RTransaction tx = begin();
        RMap<String, String> inside = tx.getMap(key);
        assertEquals("1", inside.put("a", "10"));
        assertEquals("2", inside.remove("b"));
        assertEquals("3", inside.putIfAbsent("c", "30"));
        assertTrue(inside.replace("c", "3", "31"));
        assertEquals(1, inside.fastRemove("a"));
        inside.fastPut("d", "4");
        assertEquals(Map.of("c", "31", "d", "4"), inside.getAll(Set.of("a", "b", "c", "d")));
        assertEquals(Map.of("a", "1", "b", "2", "c", "3"), map.readAllMap());
        tx.commit();
        assertEquals(Map.of("c", "31", "d", "4"), map.readAllMap());
        assertThrows(IllegalStateException.class, () -> inside.put("x", "y"));
    }

    @Test
    void cachesKeepTheirLifetimes() {
        RMapCache<String, String> map = client.getMapCache(key);
        RSetCache<String> set = client.getSetCache(key + ":set");
        map.put("old", "1");
        set.add("x");
        RTransaction tx = begin();
        tx.<String, String>getMapCache(key).put("a", "1", 60, TimeUnit.SECONDS);
        tx.<String, String>getMapCache(key).remove("old");
        tx.<String>getSetCache(key + ":set").add("y", 60, TimeUnit.SECONDS);
        tx.<String>getSetCache(key + ":set").remove("x");
        assertTrue(map.containsKey("old"));
        assertFalse(set.contains("y"));
        tx.commit();
        assertEquals(Set.of("a"), map.readAllKeySet());
        assertTrue(map.remainTimeToLive("a") > 40_000);
        assertEquals(Set.of("y"), set.readAll());
        map.destroy();
        set.destroy();
    }

    @Test
    void setsAndBuckets() {
        RSet<String> set = client.getSet(key);
        set.addAll(Set.of("a", "b"));
        RTransaction tx = begin();
        RSet<String> inside = tx.getSet(key);
        assertTrue(inside.remove("a"));
        assertFalse(inside.add("b"));
        assertTrue(inside.add("c"));
        assertEquals(Set.of("b", "c"), inside.readAll());
        RBucket<String> bucket = tx.getBucket(key + ":bucket");
        assertTrue(bucket.trySet("1"));
        assertTrue(bucket.compareAndSet("1", "2"));
        assertEquals("2", bucket.getAndDelete());
        bucket.set("3", 60, TimeUnit.SECONDS);
        tx.getBuckets().set(Map.of(key + ":x", "7", key + ":y", "8"));
        assertEquals(Set.of("a", "b"), set.readAll());
        tx.commit();
        assertEquals(Set.of("b", "c"), set.readAll());
        assertEquals("3", client.getBucket(key + ":bucket").get());
        assertTrue(client.getBucket(key + ":bucket").remainTimeToLive() > 40_000);
        assertEquals("8", client.getBucket(key + ":y").get());
    }

    @Test
    void localCachesOfOtherClientsFollowACommit() {
        RedissonClient other = closing(Clients.open(Server.shared()));
        RLocalCachedMap<String, String> here = client.getLocalCachedMap(LocalCachedMapOptions.name(key));
        RLocalCachedMap<String, String> there = other.getLocalCachedMap(LocalCachedMapOptions.name(key));
        here.put("a", "1");
        // The message about the put may come later, and empties the cache again.
        Await.until("the value in the cache there", 10_000,
                () -> "1".equals(there.get("a")) && there.getCachedMap().equals(Map.of("a", "1")));
        RTransaction tx = begin();
        RLocalCachedMap<String, String> inside = tx.getLocalCachedMap(here);
        inside.fastPut("a", "2");
        assertEquals("1", there.get("a"));
        assertEquals(Map.of("a", "1"), there.readAllMap());
        tx.commit();
        Await.until("the new value there", 10_000, () -> "2".equals(there.get("a")));
        assertEquals("2", here.get("a"));
        here.destroy();
        there.destroy();
    }

    @Test
    void transactionEndsAtItsTimeout() {
        RTransaction tx = client.createTransaction(TransactionOptions.defaults().timeout(100, TimeUnit.MILLISECONDS));
        tx.getBucket(key).set("late");
        Await.elapse(200);
        assertThrows(TransactionTimeoutException.class, tx::commit);
        assertNull(client.getBucket(key).get());
        RTransaction next = begin();
        next.getBucket(key).set("next");
        next.commit();
        assertEquals("next", client.getBucket(key).get());
    }
}
