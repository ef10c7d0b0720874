package io.github.lockredis.junit5;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ExtendWith;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.Topology;

/**
 * Starts a lockredis for the tests of a class. Each test begins with an empty server. A test fails
 * at its end when it leaves a lock, a waiting client or a subscription behind.
 *
 * <pre>{@code
 * @Lockredis
 * class OrdersTest {
 *     @Test
 *     void packsAnOrder(LockredisServer server) {
 *         ...
 *     }
 * }
 * }</pre>
 *
 * <p>On a class it starts a server, which the class's {@code @Nested} classes share. On a field or
 * a parameter it passes the server: the type is LockredisServer, LockredisTopology, int for the
 * port, or String for the URI. A field of a class without the annotation starts a server for the
 * class. A parameter of a test whose attributes differ from the class's starts a server for this
 * test. A parameter of type LockredisServer or LockredisTopology needs no annotation.
 *
 * <p>The server starts when the class does. All data is deleted before each test, that of
 * {@code @BeforeAll} too. {@link #perMethod} gives each test a server of its own. So do tests that
 * run in parallel; see {@link LockredisExtension}.
 *
 * <p>It may be a meta-annotation, and subclasses inherit it.
 */
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.FIELD, ElementType.PARAMETER})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(LockredisExtension.class)
public @interface Lockredis {
    /** The server's name, for a class that needs several servers. */
    String name() default "";

    /** The port. 0 means a free one. */
    int port() default 0;

    /** The password. "" means none. */
    String password() default "";

    /** Directives as in redis.conf: {@code "maxmemory 10mb"}. */
    String[] directives() default {};

    /**
     * The RDB file that each test begins with, in place of no data: a resource of the class path, or else the path of
     * a file. "" means none. {@link #flush} says when its data comes back.
     */
    String snapshot() default "";

    /** What starts: a server alone, behind three Sentinels, a cluster, independent primaries, or a proxy. */
    Topology topology() default Topology.SINGLE;

    /** The number of nodes of a cluster, of primaries, or behind a proxy. 0: 1 for a cluster, else 3. */
    int nodes() default 0;

    /** The name by which Sentinels know the server. "" means mymaster. */
    String masterName() default "";

    /** The password of the Sentinels. "" means none. */
    String sentinelPassword() default "";

    /** Starts a server for each test method, in place of one for the class. */
    boolean perMethod() default false;

    /** When all data is deleted. A server that starts is empty. */
    FlushMode flush() default FlushMode.BEFORE_EACH;

    /** What happens to a test that leaves a lock, a waiting client or a subscription behind. */
    LeakMode leaks() default LeakMode.FAIL;

    /**
     * Patterns of keys that are data and never leaks, though a script or SET with NX wrote them, as in KEYS:
     * {@code "idem:*"}.
     */
    String[] dataKeys() default {};
}
