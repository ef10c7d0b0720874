package io.github.lockredis.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.Topology;

/**
 * Gives the application context of a test a lockredis: a Redis in memory, in a process of its own.
 * The properties {@code spring.data.redis.*}, the bean RedisConnectionDetails and Redisson's starter point at
 * it; with Spring Boot 2.7 the properties {@code spring.redis.*} and the starter. It stands beside
 * {@code @SpringBootTest} or {@code @DataRedisTest}.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureLockredis
 * class OrdersTest {
 *     @Autowired LockredisServer server;
 *     ...
 * }
 * }</pre>
 *
 * <p>The context owns the server. Test classes that share a context in Spring's cache share its
 * server; the attributes for the server are part of the cache's key. The server stops after the
 * context's beans are destroyed.
 *
 * <p>An application that has a password for Redis gets a server with this password. User name, TLS,
 * host, port and URL of the application are replaced, and with {@link #topology} the addresses of
 * Sentinels or of the cluster. Its number of a database stays.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface AutoConfigureLockredis {
    /** When the server's data is deleted. */
    FlushMode flush() default FlushMode.BEFORE_EACH;

    /**
     * What happens to a test that leaves a lock, a permit or a place in a lock's queue behind. What
     * was held before the test began is not the test's. Subscriptions and blocked connections belong
     * to the context's beans, which outlive the test: they are never leaks here.
     */
    LeakMode leaks() default LeakMode.FAIL;

    /**
     * Patterns of keys that are data and never leaks, though a script or SET with NX wrote them, as in KEYS:
     * {@code "idem:*"}.
     */
    String[] dataKeys() default {};

    /** The server's password. "" means the application's own, if it has one. */
    String password() default "";

    /** What starts: a server alone, behind three Sentinels, a cluster, independent primaries, or a proxy. */
    Topology topology() default Topology.SINGLE;

    /** The number of nodes of a cluster, of primaries, or behind a proxy. 0: 1 for a cluster, else 3. */
    int nodes() default 0;

    /**
     * The name by which Sentinels know the server. "" means the application's own, if it has one,
     * or else mymaster.
     */
    String masterName() default "";

    /** The password of the Sentinels. "" means the application's own, if it has one. */
    String sentinelPassword() default "";

    /**
     * The RDB file that each test begins with, in place of no data: a resource of the class path, or else the path of
     * a file. "" means none. {@link #flush} says when its data comes back.
     */
    String snapshot() default "";

    /** Directives as in redis.conf: {@code "maxmemory 10mb"}. */
    String[] directives() default {};
}
