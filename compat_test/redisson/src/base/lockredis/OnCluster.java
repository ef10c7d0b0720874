package lockredis;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * The scenario uses a cluster of one node, with useClusterServers, in place of the shared server.
 * It runs only when the tag is asked for: -Dgroups=cluster.
 */
@Tag("cluster")
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface OnCluster {
}
