package clients;

import java.io.Serializable;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.data.annotation.Id;
import org.springframework.data.geo.Distance;
import org.springframework.data.geo.Point;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisHash;
import org.springframework.data.redis.core.RedisKeyExpiredEvent;
import org.springframework.data.redis.core.RedisKeyValueAdapter;
import org.springframework.data.redis.core.TimeToLive;
import org.springframework.data.redis.core.index.GeoIndexed;
import org.springframework.data.redis.core.index.Indexed;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.data.redis.repository.configuration.EnableRedisRepositories;
import org.springframework.data.repository.CrudRepository;

/** A Spring Boot application: a cache, repositories and a listener container, over Lettuce. */
@SpringBootConfiguration
@EnableAutoConfiguration(excludeName = "org.redisson.spring.starter.RedissonAutoConfigurationV2")
@EnableCaching
@EnableRedisRepositories(considerNestedRepositories = true,
    enableKeyspaceEvents = RedisKeyValueAdapter.EnableKeyspaceEvents.ON_STARTUP)
public class SpringApp {
  /** Ids of expired entities, as RedisKeyExpiredEvent tells them. */
  final BlockingQueue<String> expired = new LinkedBlockingQueue<>();

  @EventListener
  public void expired(RedisKeyExpiredEvent<?> event) {
    if (event.getValue() instanceof Visit visit) {
      expired.add(visit.id);
    }
  }

  @Bean
  public RedisMessageListenerContainer listenerContainer(RedisConnectionFactory factory) {
    RedisMessageListenerContainer container = new RedisMessageListenerContainer();
    container.setConnectionFactory(factory);
    return container;
  }

  @Bean
  public Books books() {
    return new Books();
  }

  /** Books counts its calls: a cached call is none. */
  public static class Books {
    private final AtomicInteger calls = new AtomicInteger();

    @Cacheable("books")
    public Book find(String isbn) {
      return new Book(isbn, "title " + calls.incrementAndGet());
    }

    @Cacheable("books")
    public Book nothing(String isbn) {
      calls.incrementAndGet();
      return null;
    }

    @CachePut(cacheNames = "books", key = "#book.isbn()")
    public Book update(Book book) {
      return book;
    }

    @CacheEvict("books")
    public void evict(String isbn) {}

    @CacheEvict(cacheNames = "books", allEntries = true)
    public void clear() {}

    public int calls() {
      return calls.get();
    }
  }

  /** A cached value. */
  public record Book(String isbn, String title) implements Serializable {}

  @RedisHash("sb:people")
  public static class Person {
    @Id public String id;
    @Indexed public String name;
    @GeoIndexed public Point place;
    public List<String> tags;

    public static Person of(String id, String name, Point place) {
      Person person = new Person();
      person.id = id;
      person.name = name;
      person.place = place;
      person.tags = List.of("a", "b");
      return person;
    }
  }

  @RedisHash("sb:visits")
  public static class Visit {
    @Id public String id;
    @TimeToLive public Long seconds;
  }

  public interface People extends CrudRepository<Person, String> {
    List<Person> findByName(String name);

    List<Person> findByPlaceNear(Point point, Distance distance);
  }

  public interface Visits extends CrudRepository<Visit, String> {}
}
