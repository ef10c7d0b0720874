package io.github.lockredis.spring.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.AutoConfigureLockredis;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.data.redis.core.StringRedisTemplate;

/** The demo application on a cluster of three nodes. */
@SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
        properties = Redis.PREFIX + ".cluster.nodes=a.production.invalid:6399")
@AutoConfigureLockredis(topology = Topology.CLUSTER, nodes = 3)
class ThreeNodesShopTest {
    /** Keys of the first, the second and the third node. */
    private static final String[] KEYS = {"b", "c", "a"};

    @Autowired
    LockredisTopology topology;
    @Autowired
    RedissonClient redisson;
    @Autowired
    StringRedisTemplate redis;
    @Value("${" + Redis.PREFIX + ".cluster.nodes}")
    String nodes;

    @Test
    void thePropertyNamesAllNodes() {
        assertThat(topology.nodes()).hasSize(3);
        assertThat(nodes).isEqualTo(String.join(",", topology.nodes()));
    }

    @Test
    void redissonAndTheTemplateUseEachNode() {
        for (int i = 0; i < 3; i++) {
            RLock lock = redisson.getLock(KEYS[i]);
            lock.lock();
            assertThat(topology.node(i).locks()).hasSize(1);
            lock.unlock();
            redis.opsForValue().set(KEYS[i], "v");
            assertThat(topology.node(i).command("GET", KEYS[i])).isEqualTo("v");
        }
    }

    @Test
    void allNodesAreEmptyBeforeATest() {
        topology.servers().forEach(node -> assertThat(node.command("DBSIZE")).isEqualTo(0L));
    }
}
