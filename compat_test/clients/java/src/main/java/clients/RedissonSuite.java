package clients;

import static clients.Checks.equal;
import static clients.Checks.until;
import static clients.Checks.yes;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RLock;
import org.redisson.api.RMap;
import org.redisson.api.RMapCache;
import org.redisson.api.RSemaphore;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.spring.cache.CacheConfig;
import org.redisson.spring.cache.RedissonSpringCacheManager;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.StreamOffset;
import org.springframework.data.redis.core.Cursor;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;

/** Redisson's Spring Boot starter: Spring Data over Redisson, its cache manager, its objects. */
final class RedissonSuite {
  private final Checks checks = new Checks("redisson-spring-boot-starter");
  private final ConfigurableApplicationContext context;
  private final StringRedisTemplate redis;
  private final RedissonClient redisson;

  private RedissonSuite(int port) {
    context = new SpringApplicationBuilder(App.class).web(WebApplicationType.NONE).run(
        "--spring.data.redis.host=127.0.0.1", "--spring.data.redis.port=" + port,
        "--spring.main.banner-mode=off", "--spring.data.redis.repositories.enabled=false");
    redis = context.getBean(StringRedisTemplate.class);
    redisson = context.getBean(RedissonClient.class);
  }

  static void run(int port) {
    RedissonSuite suite = new RedissonSuite(port);
    suite.templates();
    suite.cache();
    suite.objects();
    suite.context.close();
  }

  /** A Spring Boot application with the starter: it replaces Lettuce. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  @EnableCaching
  public static class App {
    @Bean
    public CacheManager cacheManager(RedissonClient client) {
      return new RedissonSpringCacheManager(client, Map.of("books", new CacheConfig(60_000, 30_000)));
    }

    @Bean
    public SpringApp.Books books() {
      return new SpringApp.Books();
    }
  }

  private void templates() {
    checks.check("the starter's connection factory replaces Lettuce", () ->
        yes(context.getBean(RedisConnectionFactory.class) instanceof RedissonConnectionFactory, "another factory"));

    checks.check("a template: values, hashes, lists, sets", () -> {
      redis.opsForValue().set("rd:key", "v", Duration.ofSeconds(60));
      equal("v", redis.opsForValue().get("rd:key"));
      redis.opsForHash().putAll("rd:hash", Map.of("a", "1"));
      equal(Map.of("a", "1"), redis.opsForHash().entries("rd:hash"));
      redis.opsForList().rightPushAll("rd:list", "a", "b");
      equal(List.of("a", "b"), redis.opsForList().range("rd:list", 0, -1));
      redis.opsForSet().add("rd:set", "x");
      equal(Set.of("x"), redis.opsForSet().members("rd:set"));
      redis.opsForZSet().add("rd:zset", "a", 1.5);
      equal(1.5, redis.opsForZSet().score("rd:zset", "a"));
    });

    checks.check("a template: executePipelined", () -> {
      List<Object> results = redis.executePipelined(new SessionCallback<Object>() {
        @Override
        @SuppressWarnings("unchecked")
        public <K, V> Object execute(RedisOperations<K, V> operations) {
          for (int i = 0; i < 100; i++) {
            operations.opsForValue().increment((K) "rd:counter");
          }
          return null;
        }
      });
      equal(100L, results.get(99));
    });

    checks.check("a template: a transaction", () -> {
      List<Object> results = redis.execute(new SessionCallback<List<Object>>() {
        @Override
        @SuppressWarnings("unchecked")
        public <K, V> List<Object> execute(RedisOperations<K, V> operations) {
          operations.multi();
          operations.opsForSet().add((K) "rd:tx", (V) "v");
          operations.opsForSet().size((K) "rd:tx");
          return operations.exec();
        }
      });
      equal(List.of(1L, 1L), results);
    });

    checks.check("a template: a script", () ->
        equal(3L, redis.execute(RedisScript.of("return ARGV[1] + ARGV[2]", Long.class), List.of(), "1", "2")));

    checks.check("a template: SCAN", () -> {
      for (int i = 0; i < 100; i++) {
        redis.opsForValue().set("rd:scan:" + i, "x");
      }
      try (Cursor<String> cursor = redis.scan(ScanOptions.scanOptions().match("rd:scan:*").count(20).build())) {
        equal(100L, cursor.stream().distinct().count());
      }
    });

    checks.check("a template: streams", () -> {
      redis.opsForStream().add(MapRecord.create("rd:stream", Map.of("k", "v")));
      equal(Map.of("k", "v"), redis.opsForStream().read(StreamOffset.fromStart("rd:stream")).get(0).getValue());
    });

    checks.check("a listener container over Redisson", () -> {
      RedisMessageListenerContainer container = new RedisMessageListenerContainer();
      container.setConnectionFactory(context.getBean(RedisConnectionFactory.class));
      container.afterPropertiesSet();
      container.start();
      BlockingQueue<String> heard = new LinkedBlockingQueue<>();
      container.addMessageListener((message, pattern) -> heard.add(message.toString()), new ChannelTopic("rd:news"));
      until(() -> redis.convertAndSend("rd:news", "hi") == 1);
      equal("hi", heard.take());
      container.destroy();
    });
  }

  private void cache() {
    SpringApp.Books books = context.getBean(SpringApp.Books.class);

    checks.check("@Cacheable: the second call is cached", () -> {
      equal(books.find("1"), books.find("1"));
      equal(1, books.calls());
      equal(1, redisson.getMapCache("books").size());
    });

    checks.check("@Cacheable: the entry has a time to live", () -> {
      long ttl = redisson.getMapCache("books").remainTimeToLive("1");
      yes(ttl > 0 && ttl <= 60_000, ttl);
    });

    checks.check("@CachePut and @CacheEvict", () -> {
      books.update(new SpringApp.Book("1", "new"));
      equal("new", books.find("1").title());
      books.evict("1");
      yes(!books.find("1").title().equals("new"), "still cached");
    });

    checks.check("@CacheEvict(allEntries)", () -> {
      books.clear();
      equal(0, redisson.getMapCache("books").size());
    });
  }

  private void objects() {
    checks.check("RLock: excludes, reentrant, a waiter is woken", () -> {
      RLock lock = redisson.getLock("rd:lock");
      lock.lock();
      lock.lock();
      equal(2, lock.getHoldCount());
      CompletableFuture<Boolean> waiter = CompletableFuture.supplyAsync(() -> {
        try {
          RLock same = redisson.getLock("rd:lock");
          boolean got = !same.tryLock() && same.tryLock(10, 10, TimeUnit.SECONDS);
          same.unlock();
          return got;
        } catch (InterruptedException interrupted) {
          return false;
        }
      });
      Thread.sleep(30);
      lock.unlock();
      lock.unlock();
      equal(true, waiter.get());
      equal(false, lock.isLocked());
    });

    checks.check("RMap and RBucket", () -> {
      RMap<String, Integer> map = redisson.getMap("rd:map");
      equal(null, map.put("a", 1));
      equal(true, map.replace("a", 1, 5));
      equal(false, map.replace("a", 1, 6));
      equal(Map.of("a", 5), map.readAllMap());
      redisson.getBucket("rd:bucket").set(List.of(1, 2), Duration.ofSeconds(60));
      equal(List.of(1, 2), redisson.getBucket("rd:bucket").get());
    });

    checks.check("RMapCache: an entry expires", () -> {
      RMapCache<String, String> map = redisson.getMapCache("rd:mapcache");
      map.put("k", "v", 30, TimeUnit.MILLISECONDS);
      until(() -> map.get("k") == null);
    });

    checks.check("RAtomicLong and RSemaphore", () -> {
      RAtomicLong number = redisson.getAtomicLong("rd:number");
      equal(1L, number.incrementAndGet());
      equal(true, number.compareAndSet(1, 7));
      RSemaphore semaphore = redisson.getSemaphore("rd:semaphore");
      semaphore.trySetPermits(1);
      equal(true, semaphore.tryAcquire());
      equal(false, semaphore.tryAcquire());
      semaphore.release();
    });

    checks.check("RTopic", () -> {
      RTopic topic = redisson.getTopic("rd:topic");
      BlockingQueue<String> heard = new LinkedBlockingQueue<>();
      topic.addListener(String.class, (channel, message) -> heard.add(message));
      equal(1L, topic.publish("hi"));
      equal("hi", heard.take());
    });

    checks.check("RBlockingQueue: take waits for an element", () -> {
      var queue = redisson.<String>getBlockingQueue("rd:queue");
      CompletableFuture<String> taken = CompletableFuture.supplyAsync(() -> {
        try {
          return queue.poll(10, TimeUnit.SECONDS);
        } catch (InterruptedException interrupted) {
          return null;
        }
      });
      queue.add("job");
      equal("job", taken.get());
    });
  }
}
