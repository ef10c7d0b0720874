package lockredis;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * The scenario needs commands of Valkey 9.1: the shared server is lockredis with the directive
 * emulate, or Valkey. It runs only when the tag is asked for: -Dgroups=valkey.
 */
@Tag("valkey")
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface OnValkey {
}
