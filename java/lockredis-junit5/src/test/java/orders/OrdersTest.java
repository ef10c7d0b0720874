package orders;

import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.LockredisServer;

@Lockredis
class OrdersTest {
    static RedissonClient redisson;

    @BeforeAll
    static void connect(LockredisServer server) {
        Config config = new Config();
        config.useSingleServer().setAddress(server.redissonAddress());
        redisson = Redisson.create(config);
    }

    @AfterAll
    static void disconnect() {
        redisson.shutdown();
    }

    @Test
    void packsAnOrder() {
        RLock lock = redisson.getLock("order:42");
        lock.lock();
        try {
            redisson.getBucket("order:42:packed").set(true);
        } finally {
            lock.unlock();
        }
    }

    @Test
    void startsWithoutOrders() {
        assertFalse(redisson.getBucket("order:42:packed").isExists());
    }
}
