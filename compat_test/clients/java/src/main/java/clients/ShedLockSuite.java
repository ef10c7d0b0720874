package clients;

import static clients.Checks.equal;
import static clients.Checks.fails;
import static clients.Checks.until;
import static clients.Checks.yes;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** ShedLock with its Redis provider: the provider, the executor and the annotation. */
final class ShedLockSuite {
  private final Checks checks = new Checks("shedlock-core");
  private final LettuceConnectionFactory factory;
  private final StringRedisTemplate redis;
  private final LockProvider provider;

  private ShedLockSuite(int port) {
    factory = new LettuceConnectionFactory("127.0.0.1", port);
    factory.afterPropertiesSet();
    factory.start();
    redis = new StringRedisTemplate(factory);
    provider = new RedisLockProvider(factory, "test");
  }

  static void run(int port) {
    ShedLockSuite suite = new ShedLockSuite(port);
    suite.provider();
    suite.times();
    suite.executor();
    suite.annotation();
    suite.factory.destroy();
  }

  private static LockConfiguration config(String name, Duration most, Duration least) {
    return new LockConfiguration(Instant.now(), name, most, least);
  }

  private static LockConfiguration config(String name) {
    return config(name, Duration.ofSeconds(30), Duration.ZERO);
  }

  private static String key(String name) {
    return "job-lock:test:" + name;
  }

  private void provider() {
    checks.check("a lock is a key with a time to live", () -> {
      SimpleLock lock = provider.lock(config("a")).get();
      long ttl = redis.getExpire(key("a"));
      yes(ttl > 0 && ttl <= 30, ttl);
      lock.unlock();
    });

    checks.check("a second lock is refused", () -> {
      SimpleLock lock = provider.lock(config("a")).get();
      equal(Optional.empty(), provider.lock(config("a")));
      lock.unlock();
    });

    checks.check("unlock deletes the key", () -> {
      provider.lock(config("a")).get().unlock();
      equal(false, redis.hasKey(key("a")));
      provider.lock(config("a")).get().unlock();
    });

    checks.check("locks of other names are free", () -> {
      SimpleLock a = provider.lock(config("a")).get();
      SimpleLock b = provider.lock(config("b")).get();
      a.unlock();
      b.unlock();
    });

    checks.check("environments are apart", () -> {
      SimpleLock lock = provider.lock(config("a")).get();
      new RedisLockProvider(factory, "prod").lock(config("a")).get().unlock();
      lock.unlock();
    });

    checks.check("a key prefix of one's own", () -> {
      LockProvider own = new RedisLockProvider.Builder(factory).environment("e").keyPrefix("sl").build();
      SimpleLock lock = own.lock(config("a")).get();
      equal(true, redis.hasKey("sl:e:a"));
      lock.unlock();
    });

    checks.check("the value names the host and the time", () -> {
      SimpleLock lock = provider.lock(config("a")).get();
      yes(redis.opsForValue().get(key("a")).startsWith("ADDED:"), redis.opsForValue().get(key("a")));
      lock.unlock();
    });

    checks.check("eight threads: one acquires", () -> {
      List<CompletableFuture<Boolean>> tries = IntStream.range(0, 8)
          .mapToObj(i -> CompletableFuture.supplyAsync(() -> provider.lock(config("race")).isPresent())).toList();
      equal(1L, tries.stream().filter(CompletableFuture::join).count());
      redis.delete(key("race"));
    });
  }

  private void times() {
    checks.check("lockAtMostFor ends the lock", () -> {
      provider.lock(config("short", Duration.ofMillis(30), Duration.ZERO)).get();
      until(() -> {
        Optional<SimpleLock> again = provider.lock(config("short"));
        again.ifPresent(SimpleLock::unlock);
        return again.isPresent();
      });
    });

    checks.check("lockAtLeastFor keeps the lock after unlock", () -> {
      provider.lock(config("least", Duration.ofSeconds(30), Duration.ofSeconds(20))).get().unlock();
      equal(Optional.empty(), provider.lock(config("least")));
      long ttl = redis.getExpire(key("least"));
      yes(ttl > 0 && ttl <= 20, ttl);
    });

    checks.check("extend prolongs the lock", () -> {
      SimpleLock lock = provider.lock(config("extended", Duration.ofSeconds(5), Duration.ZERO)).get();
      SimpleLock longer = lock.extend(Duration.ofSeconds(100), Duration.ZERO).get();
      yes(redis.getExpire(key("extended")) > 50, "TTL");
      longer.unlock();
      equal(false, redis.hasKey(key("extended")));
    });

    checks.check("extend of an expired lock is refused", () -> {
      SimpleLock lock = provider.lock(config("gone", Duration.ofMillis(20), Duration.ZERO)).get();
      until(() -> !redis.hasKey(key("gone")));
      equal(Optional.empty(), lock.extend(Duration.ofSeconds(10), Duration.ZERO));
    });

    checks.check("safeUpdate: unlock of an expired lock leaves the next owner's lock", () -> {
      LockProvider safe = new RedisLockProvider.Builder(factory).environment("test").safeUpdate(true).build();
      SimpleLock late = safe.lock(config("next", Duration.ofMillis(20), Duration.ZERO)).get();
      until(() -> !redis.hasKey(key("next")));
      SimpleLock next = safe.lock(config("next")).get();
      late.unlock();
      equal(true, redis.hasKey(key("next")));
      next.unlock();
    });
  }

  private void executor() {
    LockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);

    checks.check("LockingTaskExecutor runs a task once", () -> {
      AtomicInteger runs = new AtomicInteger();
      executor.executeWithLock((Runnable) () -> {
        runs.incrementAndGet();
        executeElsewhere(runs);
      }, config("task"));
      equal(1, runs.get());
      equal(false, redis.hasKey(key("task")));
    });

    checks.check("LockingTaskExecutor returns the task's result", () -> {
      var result = executor.executeWithLock(() -> "done", config("result"));
      equal("done", result.getResult());
      equal(true, result.wasExecuted());
    });

    checks.check("LockingTaskExecutor unlocks after an exception", () -> {
      fails("mine", () -> executor.executeWithLock((Runnable) () -> {
        throw new IllegalStateException("mine");
      }, config("throws")));
      equal(false, redis.hasKey(key("throws")));
    });

    checks.check("LockAssert and LockExtender inside a task", () -> {
      fails("The task is not locked", LockAssert::assertLocked);
      executor.executeWithLock((Runnable) () -> {
        LockAssert.assertLocked();
        LockExtender.extendActiveLock(Duration.ofSeconds(100), Duration.ZERO);
        yes(redis.getExpire(key("inside")) > 50, "TTL");
      }, config("inside"));
    });
  }

  private void executeElsewhere(AtomicInteger runs) {
    CompletableFuture.runAsync(() -> new DefaultLockingTaskExecutor(new RedisLockProvider(factory, "test"))
        .executeWithLock((Runnable) runs::incrementAndGet, config("task"))).join();
  }

  private void annotation() {
    checks.check("@SchedulerLock: a locked method is skipped", () -> {
      try (var context = new AnnotationConfigApplicationContext()) {
        context.registerBean("connectionFactory", RedisConnectionFactory.class, () -> new Shared(factory));
        context.register(Locked.class);
        context.refresh();
        Jobs jobs = context.getBean(Jobs.class);
        jobs.nightly();
        SimpleLock lock = provider.lock(config("nightly")).get();
        jobs.nightly();
        equal(1, jobs.runs());
        lock.unlock();
        jobs.nightly();
        equal(2, jobs.runs());
      }
    });
  }

  /** Shared lends a connection factory to a context that closes its beans. */
  private record Shared(LettuceConnectionFactory factory) implements RedisConnectionFactory {
    @Override
    public org.springframework.data.redis.connection.RedisConnection getConnection() {
      return factory.getConnection();
    }

    @Override
    public org.springframework.data.redis.connection.RedisClusterConnection getClusterConnection() {
      return factory.getClusterConnection();
    }

    @Override
    public boolean getConvertPipelineAndTxResults() {
      return true;
    }

    @Override
    public org.springframework.data.redis.connection.RedisSentinelConnection getSentinelConnection() {
      return factory.getSentinelConnection();
    }

    @Override
    public org.springframework.dao.DataAccessException translateExceptionIfPossible(RuntimeException failure) {
      return factory.translateExceptionIfPossible(failure);
    }
  }

  @Configuration
  @EnableSchedulerLock(defaultLockAtMostFor = "30s")
  public static class Locked {
    @Bean
    public LockProvider lockProvider(RedisConnectionFactory factory) {
      return new RedisLockProvider(factory, "test");
    }

    @Bean
    public Jobs jobs() {
      return new Jobs();
    }
  }

  public static class Jobs {
    private final AtomicInteger runs = new AtomicInteger();

    @SchedulerLock(name = "nightly")
    public void nightly() {
      LockAssert.assertLocked();
      runs.incrementAndGet();
    }

    public int runs() {
      return runs.get();
    }
  }
}
