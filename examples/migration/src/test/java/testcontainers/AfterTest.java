package testcontainers;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.LockredisServer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

@Lockredis(directives = "notify-keyspace-events Ex")
class AfterTest {
    static RedissonClient redisson;

    @BeforeAll
    static void connect(LockredisServer redis) {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.redissonAddress());
        redisson = Redisson.create(config);
    }

    @AfterAll
    static void disconnect() {
        redisson.shutdown();
    }

    @Test
    void anOrderIsLocked() throws Exception {
        RLock lock = redisson.getLock("orders:42");
        assertTrue(lock.tryLock(1, TimeUnit.SECONDS));
        lock.unlock();
    }
}
