package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;

@Lockredis(topology = Topology.SENTINEL, masterName = "orders")
class SentinelTest {
    static RedissonClient redisson;

    @BeforeAll
    static void connect(LockredisTopology topology) {
        Config config = new Config();
        config.useSentinelServers()
                .setMasterName(topology.masterName())
                .addSentinelAddress(topology.redissonAddresses());
        redisson = Redisson.create(config);
    }

    @AfterAll
    static void disconnect() {
        redisson.shutdown();
    }

    @Test
    void locksThroughSentinels(LockredisServer server) {
        RLock lock = redisson.getLock("order:42");
        lock.lock();
        assertEquals("order:42", server.locks().get(0).name());
        lock.unlock();
    }
}
