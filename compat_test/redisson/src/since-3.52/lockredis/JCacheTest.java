package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.Factory;
import javax.cache.configuration.FactoryBuilder;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryExpiredListener;
import javax.cache.event.CacheEntryRemovedListener;
import javax.cache.event.CacheEntryUpdatedListener;
import javax.cache.expiry.AccessedExpiryPolicy;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import javax.cache.integration.CacheLoader;
import javax.cache.integration.CompletionListenerFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.jcache.configuration.RedissonConfiguration;

/** JSR 107 caches. */
class JCacheTest extends Family {
    private static final Queue<String> HEARD = new ConcurrentLinkedQueue<>();

    public static final class Ear implements CacheEntryCreatedListener<String, String>,
            CacheEntryUpdatedListener<String, String>, CacheEntryRemovedListener<String, String>,
            CacheEntryExpiredListener<String, String>, Serializable {
        private static void hear(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            events.forEach(e -> HEARD.add(e.getEventType() + " " + e.getKey() + "=" + e.getValue()));
        }

        @Override
        public void onCreated(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }

        @Override
        public void onUpdated(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }

        @Override
        public void onRemoved(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }

        @Override
        public void onExpired(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }
    }

    public static final class Loader implements CacheLoader<String, String>, Serializable {
        @Override
        public String load(String k) {
            return "loaded " + k;
        }

        @Override
        public Map<String, String> loadAll(Iterable<? extends String> keys) {
            Map<String, String> all = new HashMap<>();
            keys.forEach(k -> all.put(k, load(k)));
            return all;
        }
    }

    private final CacheManager manager = Caching.getCachingProvider().getCacheManager();

    @AfterEach
    void destroy() {
        manager.destroyCache(key);
    }

    private Cache<String, String> cache(MutableConfiguration<String, String> config) {
        return manager.createCache(key, RedissonConfiguration.fromInstance(client, config));
    }

    private Cache<String, String> cache() {
        return cache(new MutableConfiguration<>());
    }

    @Test
    void entriesArePutReplacedAndRemoved() {
        Cache<String, String> cache = cache();
        cache.put("a", "1");
        assertEquals("1", cache.getAndPut("a", "2"));
        assertFalse(cache.putIfAbsent("a", "3"));
        assertTrue(cache.putIfAbsent("b", "4"));
        assertEquals(Map.of("a", "2", "b", "4"), cache.getAll(Set.of("a", "b", "c")));
        assertTrue(cache.replace("a", "2", "5"));
        assertFalse(cache.replace("a", "2", "6"));
        assertEquals("5", cache.getAndReplace("a", "7"));
        assertFalse(cache.remove("a", "5"));
        assertEquals("7", cache.getAndRemove("a"));
        assertTrue(cache.remove("b"));
        assertFalse(cache.containsKey("b"));
        cache.putAll(Map.of("x", "1", "y", "2", "z", "3"));
        cache.removeAll(Set.of("x", "w"));
        Map<String, String> met = new HashMap<>();
        cache.iterator().forEachRemaining(e -> met.put(e.getKey(), e.getValue()));
        assertEquals(Map.of("y", "2", "z", "3"), met);
        cache.removeAll();
        assertNull(cache.get("y"));
    }

    @Test
    void entryProcessorChangesAnEntry() {
        Cache<String, String> cache = cache();
        cache.put("a", "1");
        assertEquals("was 1", cache.invoke("a", (entry, args) -> {
            String old = entry.getValue();
            entry.setValue(old + args[0]);
            return "was " + old;
        }, "+"));
        assertEquals("1+", cache.get("a"));
        cache.invoke("a", (entry, args) -> {
            entry.remove();
            return null;
        });
        assertFalse(cache.containsKey("a"));
    }

    @Test
    void entriesExpireAfterCreationOrAccess() {
        Cache<String, String> cache = cache(new MutableConfiguration<String, String>().setExpiryPolicyFactory(
                CreatedExpiryPolicy.factoryOf(new Duration(TimeUnit.MILLISECONDS, 2_500))));
        cache.put("a", "1");
        assertEquals("1", cache.get("a"));
        Await.untilPast("the end of a", 10_000, () -> cache.get("a") == null);
        assertTrue(cache.putIfAbsent("a", "2"));
        manager.destroyCache(key);
        Cache<String, String> touched = cache(new MutableConfiguration<String, String>().setExpiryPolicyFactory(
                AccessedExpiryPolicy.factoryOf(new Duration(TimeUnit.MILLISECONDS, 2_400))));
        touched.put("b", "1");
        touched.put("c", "1");
        for (int i = 0; i < 9; i++) {
            Await.elapse(300);
            assertEquals("1", touched.get("b"));
        }
        assertNull(touched.get("c"));
    }

    @Test
    void listenersHearOfEveryChange() {
        HEARD.clear();
        Factory<Ear> ear = FactoryBuilder.factoryOf(new Ear());
        Cache<String, String> cache = cache(new MutableConfiguration<String, String>()
                .setExpiryPolicyFactory(CreatedExpiryPolicy.factoryOf(new Duration(TimeUnit.MILLISECONDS, 8_000)))
                .addCacheEntryListenerConfiguration(
                        new MutableCacheEntryListenerConfiguration<>(ear, null, true, true)));
        cache.put("a", "1");
        cache.put("a", "2");
        cache.put("b", "3");
        cache.remove("a");
        Await.until("four events", 10_000, () -> HEARD.size() >= 4);
        assertEquals(Set.of("CREATED a=1", "UPDATED a=2", "CREATED b=3", "REMOVED a=2"), Set.copyOf(HEARD));
        Await.until("the expiry", 20_000, () -> cache.get("b") == null);
        Await.until("the last event", 20_000, () -> HEARD.contains("EXPIRED b=3"));
    }

    @Test
    void absentEntriesAreLoaded() throws Exception {
        Cache<String, String> cache = cache(new MutableConfiguration<String, String>()
                .setCacheLoaderFactory(FactoryBuilder.factoryOf(new Loader())).setReadThrough(true));
        assertEquals("loaded a", cache.get("a"));
        assertEquals(Map.of("a", "loaded a", "b", "loaded b"), cache.getAll(Set.of("a", "b")));
        cache.put("c", "own");
        CompletionListenerFuture done = new CompletionListenerFuture();
        cache.loadAll(Set.of("c", "d"), false, done);
        done.get(15, TimeUnit.SECONDS);
        assertEquals("own", cache.get("c"));
        assertTrue(cache.containsKey("d"));
    }
}
