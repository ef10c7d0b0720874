package lockredis;

import org.junit.jupiter.api.Tag;

/**
 * A scenario of Redisson's objects beside locks. These run in a JVM of their own, after the
 * others: they need the processor, and scenarios of locks measure time.
 */
@Tag("families")
abstract class Family extends Scenario {
}
