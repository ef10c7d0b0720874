package io.github.lockredis.spring.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.AutoConfigureLockredis;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.data.redis.DataRedisTest;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.test.context.ContextConfiguration;

/** A slice of the demo application on a cluster of three nodes: Lettuce. */
@DataRedisTest
@ContextConfiguration(classes = Shop.class)
@AutoConfigureLockredis(topology = Topology.CLUSTER, nodes = 3, password = "secret")
class ThreeNodesSliceTest {
    @Autowired
    LockredisTopology topology;
    @Autowired
    StringRedisTemplate redis;

    @Test
    void lettuceUsesEachNode() {
        for (String key : new String[] {"a", "b", "c"}) {
            redis.opsForValue().set(key, "v");
        }
        for (LockredisServer node : topology.servers()) {
            assertThat(node.command("DBSIZE")).isEqualTo(1L);
        }
    }
}
