package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.time.Duration;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;

@Lockredis(topology = Topology.CLUSTER, nodes = 3)
class ClusterTest {
    static RedissonClient redisson;

    @BeforeAll
    static void connect(LockredisTopology topology) {
        Config config = new Config();
        config.useClusterServers().addNodeAddress(topology.redissonAddresses());
        redisson = Redisson.create(config);
    }

    @AfterAll
    static void disconnect() {
        redisson.shutdown();
    }

    @Test
    void locksOnTheNodeOfTheKey(LockredisTopology topology) {
        RLock lock = redisson.getLock("order:42"); // its slot is at the second node
        lock.lock();
        assertEquals("order:42", topology.node(1).locks().get(0).name());
        topology.clock().advance(Duration.ofMinutes(1));
        assertFalse(lock.isLocked());
    }
}
