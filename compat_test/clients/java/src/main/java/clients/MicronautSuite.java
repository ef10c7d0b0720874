package clients;

import static clients.Checks.equal;
import static clients.Checks.until;
import static clients.Checks.yes;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.micronaut.cache.CacheManager;
import io.micronaut.cache.SyncCache;
import io.micronaut.context.ApplicationContext;
import io.micronaut.core.type.Argument;
import io.micronaut.inject.qualifiers.Qualifiers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Micronaut Redis: connections as beans, and its cache. */
final class MicronautSuite {
  private final Checks checks = new Checks("micronaut-redis-lettuce");
  private final String uri;
  private final ApplicationContext context;
  private final RedisCommands<String, String> redis;
  private final SyncCache<?> cache;

  @SuppressWarnings("unchecked")
  private MicronautSuite(int port) {
    uri = "redis://127.0.0.1:" + port;
    context = ApplicationContext.run(Map.of(
        "redis.uri", uri,
        "redis.servers.other.uri", uri + "/5",
        "redis.caches.books.expire-after-write", "60s",
        "redis.caches.plain.charset", "UTF-8",
        "redis.caches.many.invalidate-scan-count", 20));
    redis = ((StatefulRedisConnection<String, String>) context.getBean(StatefulRedisConnection.class)).sync();
    cache = context.getBean(CacheManager.class).getCache("plain");
  }

  static void run(int port) {
    MicronautSuite suite = new MicronautSuite(port);
    suite.connections();
    suite.annotations();
    suite.caches();
    suite.context.close();
  }

  @SuppressWarnings("unchecked")
  private void connections() {
    checks.check("a connection is a bean", () -> equal("PONG", redis.ping()));

    checks.check("a client is a bean, and opens connections", () -> {
      try (var own = context.getBean(RedisClient.class).connect()) {
        own.sync().set("mn:key", "v");
        equal("v", redis.get("mn:key"));
      }
    });

    checks.check("a named server with another database", () -> {
      StatefulRedisConnection<String, String> other =
          context.getBean(StatefulRedisConnection.class, Qualifiers.byName("other"));
      other.sync().set("mn:other", "5");
      equal(null, redis.get("mn:other"));
      yes(other.sync().clientInfo().contains(" db=5 "), other.sync().clientInfo());
    });

    checks.check("a connection for pub/sub is a bean", () -> {
      StatefulRedisPubSubConnection<String, String> own =
          context.getBean(StatefulRedisPubSubConnection.class, Qualifiers.byName("other"));
      BlockingQueue<String> heard = new LinkedBlockingQueue<>();
      own.addListener(new RedisPubSubAdapter<>() {
        @Override
        public void message(String channel, String message) {
          heard.add(message);
        }
      });
      own.sync().subscribe("mn:news");
      equal(1L, redis.publish("mn:news", "hi"));
      equal("hi", heard.take());
    });
  }

  private void annotations() {
    MicronautBooks books = context.getBean(MicronautBooks.class);

    checks.check("@Cacheable: the second call is cached", () -> {
      equal(books.find("1"), books.find("1"));
      equal(1, books.calls());
    });

    checks.check("@Cacheable: expire-after-write is the key's time to live", () -> {
      List<String> keys = redis.keys("books:*");
      equal(1, keys.size());
      long ttl = redis.ttl(keys.get(0));
      yes(ttl > 0 && ttl <= 60, ttl);
    });

    checks.check("@Cacheable: other arguments have entries of their own", () -> {
      yes(!books.find("1").equals(books.find("2")), "equal");
      equal(2, redis.keys("books:*").size());
    });

    checks.check("@CachePut", () -> {
      books.update("1", "new");
      equal("new", books.find("1"));
    });

    checks.check("@CacheInvalidate of one entry", () -> {
      books.evict("1");
      yes(!books.find("1").equals("new"), "still cached");
    });

    checks.check("@CacheInvalidate(all = true)", () -> {
      books.clear();
      equal(List.of(), redis.keys("books:*"));
    });

    checks.check("@Cacheable: an entry that expires is loaded again", () -> {
      String before = books.find("3");
      redis.pexpire(redis.keys("books:*").get(0), 10);
      until(() -> redis.keys("books:*").isEmpty());
      yes(!books.find("3").equals(before), "still cached");
    });
  }

  private void caches() {
    checks.check("a cache: put and get", () -> {
      cache.put("a", "1");
      equal(Optional.of("1"), cache.get("a", String.class));
      equal(Optional.empty(), cache.get("none", String.class));
      equal(-1L, redis.ttl(redis.keys("plain:*").get(0)));
    });

    checks.check("a cache: putIfAbsent", () -> {
      equal(Optional.of("1"), cache.putIfAbsent("a", "2"));
      equal(Optional.empty(), cache.putIfAbsent("b", "2"));
      equal(Optional.of("2"), cache.get("b", String.class));
    });

    checks.check("a cache: get with a supplier stores the value", () -> {
      AtomicInteger calls = new AtomicInteger();
      for (int i = 0; i < 2; i++) {
        equal("made", cache.get("supplied", Argument.of(String.class), () -> {
          calls.incrementAndGet();
          return "made";
        }));
      }
      equal(1, calls.get());
    });

    checks.check("a cache: objects are serialized", () -> {
      Map<String, List<Integer>> value = new HashMap<>(Map.of("a", new ArrayList<>(List.of(1, 2))));
      cache.put("object", value);
      equal(Optional.of(value), cache.get("object", HashMap.class));
    });

    checks.check("a cache: async", () -> {
      equal(true, cache.async().put("async", "1").get());
      equal(Optional.of("1"), cache.async().get("async", String.class).get());
      equal(true, cache.async().invalidate("async").get());
      equal(Optional.empty(), cache.async().get("async", String.class).get());
    });

    checks.check("a cache: invalidateAll of 500 entries leaves other caches", () -> {
      SyncCache<?> many = context.getBean(CacheManager.class).getCache("many");
      for (int i = 0; i < 500; i++) {
        many.put("k" + i, "v");
      }
      equal(500, redis.keys("many:*").size());
      many.invalidateAll();
      equal(List.of(), redis.keys("many:*"));
      equal(Optional.of("1"), cache.get("a", String.class));
    });
  }
}
