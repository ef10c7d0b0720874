package clients;

import static clients.Checks.equal;
import static clients.Checks.fails;
import static clients.Checks.until;
import static clients.Checks.yes;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.DataAccessException;
import org.springframework.data.geo.Distance;
import org.springframework.data.geo.Metrics;
import org.springframework.data.geo.Point;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.stream.Consumer;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.StreamOffset;
import org.springframework.data.redis.core.Cursor;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.PatternTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.data.redis.serializer.GenericJackson2JsonRedisSerializer;
import org.springframework.data.redis.serializer.RedisSerializer;
import org.springframework.data.redis.stream.StreamMessageListenerContainer;
import org.springframework.data.redis.support.atomic.RedisAtomicLong;
import org.springframework.integration.redis.metadata.RedisMetadataStore;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.session.FindByIndexNameSessionRepository;
import org.springframework.session.Session;
import org.springframework.session.SessionRepository;
import org.springframework.session.data.redis.RedisIndexedSessionRepository;
import org.springframework.session.data.redis.RedisSessionRepository;
import org.springframework.session.events.SessionExpiredEvent;

/** Spring Boot with Spring Data Redis, Spring Integration's locks and Spring Session. */
final class SpringSuite {
  private final Checks checks = new Checks("spring-boot");
  private final ConfigurableApplicationContext context;
  private final StringRedisTemplate redis;
  private final RedisConnectionFactory factory;

  private SpringSuite(int port) {
    context = new SpringApplicationBuilder(SpringApp.class).web(WebApplicationType.NONE).run(
        "--spring.data.redis.port=" + port, "--spring.main.banner-mode=off",
        "--spring.cache.type=redis", "--spring.cache.redis.time-to-live=60s", "--spring.cache.redis.key-prefix=sb:cache:");
    redis = context.getBean(StringRedisTemplate.class);
    factory = context.getBean(RedisConnectionFactory.class);
  }

  static void run(int port) {
    SpringSuite suite = new SpringSuite(port);
    suite.templates();
    suite.cache();
    suite.repositories();
    suite.locks();
    suite.sessions();
    suite.messages();
    suite.context.close();
  }

  private void templates() {
    checks.check("StringRedisTemplate: values with a time to live", () -> {
      redis.opsForValue().set("sb:key", "v", Duration.ofSeconds(60));
      equal(false, redis.opsForValue().setIfAbsent("sb:key", "w", Duration.ofSeconds(60)));
      yes(redis.getExpire("sb:key") > 0, "TTL");
      equal("v", redis.opsForValue().getAndDelete("sb:key"));
    });

    checks.check("RedisTemplate with JSON", () -> {
      RedisTemplate<String, Object> json = new RedisTemplate<>();
      json.setConnectionFactory(factory);
      json.setKeySerializer(RedisSerializer.string());
      json.setValueSerializer(new GenericJackson2JsonRedisSerializer());
      json.afterPropertiesSet();
      json.opsForValue().set("sb:json", new HashMap<>(Map.of("a", 1)));
      equal(Map.of("a", 1), json.opsForValue().get("sb:json"));
    });

    checks.check("operations on hashes, lists, sets and sorted sets", () -> {
      redis.opsForHash().putAll("sb:hash", Map.of("a", "1", "b", "2"));
      equal(Map.of("a", "1", "b", "2"), redis.opsForHash().entries("sb:hash"));
      redis.opsForList().rightPushAll("sb:list", "a", "b");
      equal("b", redis.opsForList().move("sb:list", org.springframework.data.redis.connection.RedisListCommands.Direction.RIGHT,
          "sb:list2", org.springframework.data.redis.connection.RedisListCommands.Direction.LEFT));
      redis.opsForSet().add("sb:set", "x", "y");
      equal(Set.of("x", "y"), redis.opsForSet().members("sb:set"));
      redis.opsForZSet().add("sb:zset", "a", 1.5);
      equal(1.5, redis.opsForZSet().score("sb:zset", "a"));
    });

    checks.check("executePipelined", () -> {
      List<Object> results = redis.executePipelined(new SessionCallback<Object>() {
        @Override
        @SuppressWarnings("unchecked")
        public <K, V> Object execute(RedisOperations<K, V> operations) throws DataAccessException {
          for (int i = 0; i < 1000; i++) {
            operations.opsForValue().increment((K) "sb:counter");
          }
          return null;
        }
      });
      equal(1000L, results.get(999));
    });

    checks.check("a transaction with SessionCallback", () -> {
      List<Object> results = redis.execute(new SessionCallback<List<Object>>() {
        @Override
        @SuppressWarnings("unchecked")
        public <K, V> List<Object> execute(RedisOperations<K, V> operations) throws DataAccessException {
          operations.multi();
          operations.opsForSet().add((K) "sb:tx", (V) "v");
          operations.opsForSet().size((K) "sb:tx");
          return operations.exec();
        }
      });
      equal(List.of(1L, 1L), results);
    });

    checks.check("RedisScript", () -> {
      RedisScript<Boolean> script = RedisScript.of(
          "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) return true end return false",
          Boolean.class);
      redis.opsForValue().set("sb:cas", "1");
      equal(true, redis.execute(script, List.of("sb:cas"), "1", "2"));
      equal(false, redis.execute(script, List.of("sb:cas"), "1", "3"));
    });

    checks.check("SCAN with a cursor", () -> {
      for (int i = 0; i < 200; i++) {
        redis.opsForValue().set("sb:scan:" + i, "x");
      }
      try (Cursor<String> cursor = redis.scan(ScanOptions.scanOptions().match("sb:scan:*").count(30).build())) {
        equal(200L, cursor.stream().distinct().count());
      }
    });

    checks.check("RedisAtomicLong, compareAndSet", () -> {
      RedisAtomicLong number = new RedisAtomicLong("sb:atomic", factory, 5);
      equal(6L, number.incrementAndGet());
      equal(false, number.compareAndSet(5, 7));
      equal(true, number.compareAndSet(6, 7));
    });

    checks.check("ReactiveStringRedisTemplate", () -> {
      ReactiveStringRedisTemplate reactive = context.getBean(ReactiveStringRedisTemplate.class);
      equal("v", reactive.opsForValue().set("sb:reactive", "v")
          .then(reactive.opsForValue().get("sb:reactive")).block());
      equal(200L, reactive.scan(ScanOptions.scanOptions().match("sb:scan:*").build()).distinct().count().block());
    });

    checks.check("errors are translated", () -> {
      redis.opsForValue().set("sb:text", "x");
      fails("WRONGTYPE", () -> redis.opsForList().rightPush("sb:text", "y"));
    });
  }

  private void cache() {
    SpringApp.Books books = context.getBean(SpringApp.Books.class);

    checks.check("@Cacheable: the second call is cached, with prefix and ttl", () -> {
      equal(books.find("1"), books.find("1"));
      equal(1, books.calls());
      Set<String> keys = redis.keys("sb:cache:*");
      equal(1, keys.size());
      long ttl = redis.getExpire(keys.iterator().next());
      yes(ttl > 0 && ttl <= 60, ttl);
    });

    checks.check("@Cacheable: null is cached", () -> {
      int before = books.calls();
      equal(null, books.nothing("none"));
      equal(null, books.nothing("none"));
      equal(before + 1, books.calls());
    });

    checks.check("@CachePut and @CacheEvict", () -> {
      books.update(new SpringApp.Book("1", "new"));
      equal("new", books.find("1").title());
      books.evict("1");
      yes(!books.find("1").title().equals("new"), "still cached");
    });

    checks.check("@CacheEvict(allEntries)", () -> {
      for (int i = 0; i < 50; i++) {
        books.find("many" + i);
      }
      books.clear();
      equal(Set.of(), redis.keys("sb:cache:*"));
    });
  }

  private void repositories() {
    SpringApp.People people = context.getBean(SpringApp.People.class);

    checks.check("a repository: save, findById, findAll, delete", () -> {
      people.save(SpringApp.Person.of("1", "alice", new Point(13.361389, 38.115556)));
      people.save(SpringApp.Person.of("2", "bob", new Point(15.087269, 37.502669)));
      equal("alice", people.findById("1").get().name);
      equal(List.of("a", "b"), people.findById("2").get().tags);
      equal(2L, people.count());
      equal("hash", redis.type("sb:people:1").code());
    });

    checks.check("a repository: @Indexed", () -> {
      equal("2", people.findByName("bob").get(0).id);
      SpringApp.Person bob = people.findById("2").get();
      bob.name = "robert";
      people.save(bob);
      equal(List.of(), people.findByName("bob"));
      equal("2", people.findByName("robert").get(0).id);
    });

    checks.check("a repository: @GeoIndexed", () -> {
      List<SpringApp.Person> near = people.findByPlaceNear(new Point(15, 37), new Distance(100, Metrics.KILOMETERS));
      equal(List.of("2"), near.stream().map(one -> one.id).toList());
      equal(2, people.findByPlaceNear(new Point(15, 37), new Distance(200, Metrics.KILOMETERS)).size());
    });

    checks.check("a repository: delete removes the indexes", () -> {
      people.deleteById("1");
      equal(Optional.empty(), people.findById("1"));
      equal(false, redis.hasKey("sb:people:name:alice"));
      people.deleteAll();
      equal(0L, people.count());
    });

    checks.check("a repository: @TimeToLive, and RedisKeyExpiredEvent with the entity", () -> {
      SpringApp.Visit visit = new SpringApp.Visit();
      visit.id = "v1";
      visit.seconds = 100L;
      context.getBean(SpringApp.Visits.class).save(visit);
      yes(redis.getExpire("sb:visits:v1") > 0, "TTL");
      redis.expire("sb:visits:v1", Duration.ofMillis(20));
      equal("v1", context.getBean(SpringApp.class).expired.poll(15, TimeUnit.SECONDS));
    });
  }

  private void locks() {
    for (RedisLockRegistry.RedisLockType type : RedisLockRegistry.RedisLockType.values()) {
      checks.check("RedisLockRegistry, " + type + ": excludes another registry, a waiter acquires", () -> {
        RedisLockRegistry one = new RedisLockRegistry(factory, "sb-locks");
        RedisLockRegistry two = new RedisLockRegistry(factory, "sb-locks");
        one.setRedisLockType(type);
        two.setRedisLockType(type);
        Lock held = one.obtain("k");
        held.lock();
        equal(true, redis.hasKey("sb-locks:k"));
        CompletableFuture<Boolean> waiter = CompletableFuture.supplyAsync(() -> {
          Lock lock = two.obtain("k");
          try {
            boolean first = lock.tryLock();
            boolean second = lock.tryLock(10, TimeUnit.SECONDS);
            lock.unlock();
            return !first && second;
          } catch (InterruptedException interrupted) {
            return false;
          }
        });
        Thread.sleep(30);
        held.unlock();
        equal(true, waiter.get());
        equal(false, redis.hasKey("sb-locks:k"));
        one.destroy();
        two.destroy();
      });
    }

    checks.check("RedisLockRegistry: reentrant, and an expired lock", () -> {
      RedisLockRegistry registry = new RedisLockRegistry(factory, "sb-locks", 50);
      Lock lock = registry.obtain("short");
      lock.lock();
      yes(lock.tryLock(), "reentrant");
      lock.unlock();
      until(() -> !redis.hasKey("sb-locks:short"));
      fails("Lock was released in the store due to expiration", lock::unlock);
      registry.destroy();
    });

    checks.check("RedisMetadataStore", () -> {
      RedisMetadataStore store = new RedisMetadataStore(factory, "sb:metadata");
      equal(null, store.putIfAbsent("k", "1"));
      equal(true, store.replace("k", "1", "2"));
      equal(false, store.replace("k", "1", "3"));
      equal("2", store.remove("k"));
    });
  }

  private static RedisTemplate<String, Object> sessionTemplate(RedisConnectionFactory factory) {
    RedisTemplate<String, Object> template = new RedisTemplate<>();
    template.setKeySerializer(RedisSerializer.string());
    template.setHashKeySerializer(RedisSerializer.string());
    template.setConnectionFactory(factory);
    template.afterPropertiesSet();
    return template;
  }

  private static <S extends Session> void keep(SessionRepository<S> sessions) {
    S session = sessions.createSession();
    session.setAttribute("user", "alice");
    sessions.save(session);
    String before = session.getId();
    equal("alice", sessions.findById(before).getAttribute("user"));
    String after = session.changeSessionId();
    sessions.save(session);
    equal(null, sessions.findById(before));
    sessions.deleteById(after);
    equal(null, sessions.findById(after));
  }

  private void sessions() {
    checks.check("RedisSessionRepository: save, find, change the id, delete", () -> {
      RedisSessionRepository sessions = new RedisSessionRepository(sessionTemplate(factory));
      sessions.setRedisKeyNamespace("sb:session");
      keep(sessions);
    });

    checks.check("RedisIndexedSessionRepository: found by the principal's name", () -> {
      RedisIndexedSessionRepository sessions = new RedisIndexedSessionRepository(sessionTemplate(factory));
      sessions.setRedisKeyNamespace("sb:indexed");
      var session = sessions.createSession();
      session.setAttribute(FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME, "alice");
      sessions.save(session);
      equal(Set.of(session.getId()), sessions.findByPrincipalName("alice").keySet());
      sessions.deleteById(session.getId());
      equal(Map.of(), sessions.findByPrincipalName("alice"));
      sessions.destroy();
    });

    checks.check("RedisIndexedSessionRepository: SessionExpiredEvent by a keyspace event", () -> {
      BlockingQueue<Object> events = new LinkedBlockingQueue<>();
      RedisIndexedSessionRepository sessions = new RedisIndexedSessionRepository(sessionTemplate(factory));
      sessions.setRedisKeyNamespace("sb:expiring");
      sessions.setApplicationEventPublisher(events::add);
      RedisMessageListenerContainer container = context.getBean(RedisMessageListenerContainer.class);
      container.addMessageListener(sessions, List.of(new PatternTopic("__keyevent@0__:expired"),
          new PatternTopic("__keyevent@0__:del"), new PatternTopic(sessions.getSessionCreatedChannelPrefix() + "*")));
      var session = sessions.createSession();
      sessions.save(session);
      redis.expire("sb:expiring:sessions:expires:" + session.getId(), Duration.ofMillis(20));
      Object event;
      do {
        event = events.poll(15, TimeUnit.SECONDS);
      } while (event != null && !(event instanceof SessionExpiredEvent));
      equal(session.getId(), event == null ? null : ((SessionExpiredEvent) event).getSessionId());
      container.removeMessageListener(sessions);
      sessions.destroy();
    });
  }

  private void messages() {
    checks.check("RedisMessageListenerContainer: a channel and a pattern", () -> {
      RedisMessageListenerContainer container = context.getBean(RedisMessageListenerContainer.class);
      BlockingQueue<String> heard = new LinkedBlockingQueue<>();
      container.addMessageListener((message, pattern) -> heard.add("channel " + message), new ChannelTopic("sb:news"));
      container.addMessageListener((message, pattern) -> heard.add("pattern " + message), new PatternTopic("sb:n*"));
      until(() -> redis.convertAndSend("sb:news", "probe") == 2);
      heard.clear();
      redis.convertAndSend("sb:news", "hi");
      Set<String> got = new java.util.HashSet<>();
      until(() -> got.add(heard.take()) && got.containsAll(Set.of("channel hi", "pattern hi")) || got.size() > 4);
      yes(got.containsAll(Set.of("channel hi", "pattern hi")), got);
    });

    checks.check("StreamMessageListenerContainer: a group, acknowledged", () -> {
      redis.opsForStream().createGroup("sb:stream", ReadOffset.from("0"), "group");
      var options = StreamMessageListenerContainer.StreamMessageListenerContainerOptions.builder()
          .pollTimeout(Duration.ofMillis(100)).build();
      var container = StreamMessageListenerContainer.create(factory, options);
      CountDownLatch ten = new CountDownLatch(10);
      container.receiveAutoAck(Consumer.from("group", "alice"),
          StreamOffset.create("sb:stream", ReadOffset.lastConsumed()), message -> ten.countDown());
      container.start();
      for (int i = 0; i < 10; i++) {
        redis.opsForStream().add(MapRecord.create("sb:stream", Map.of("n", String.valueOf(i))));
      }
      yes(ten.await(15, TimeUnit.SECONDS), ten);
      until(() -> redis.opsForStream().pending("sb:stream", "group").getTotalPendingMessages() == 0);
      container.stop();
    });
  }
}
