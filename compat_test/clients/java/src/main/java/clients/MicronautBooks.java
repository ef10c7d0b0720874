package clients;

import io.micronaut.cache.annotation.CacheConfig;
import io.micronaut.cache.annotation.CacheInvalidate;
import io.micronaut.cache.annotation.CachePut;
import io.micronaut.cache.annotation.Cacheable;
import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicInteger;

/** MicronautBooks counts its calls: a cached call is none. */
@Singleton
@CacheConfig("books")
public class MicronautBooks {
  private final AtomicInteger calls = new AtomicInteger();

  @Cacheable
  public String find(String isbn) {
    return "title " + calls.incrementAndGet();
  }

  @CachePut(parameters = "isbn")
  public String update(String isbn, String title) {
    return title;
  }

  @CacheInvalidate
  public void evict(String isbn) {}

  @CacheInvalidate(all = true)
  public void clear() {}

  public int calls() {
    return calls.get();
  }
}
