package testcontainers;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;
import org.testcontainers.utility.DockerImageName;

/** Testcontainers with the image of lockredis: only the image's name changes. */
@Testcontainers(disabledWithoutDocker = true)
class ImageTest {
    @Container
    static GenericContainer<?> redis = new GenericContainer<>(
            DockerImageName.parse("lockredis/lockredis:7.0").asCompatibleSubstituteFor("redis"))
            .withExposedPorts(6379)
            .withCommand("redis-server", "--notify-keyspace-events", "Ex");

    @Test
    void anOrderIsLocked() throws Exception {
        Config config = new Config();
        config.useSingleServer()
                .setAddress("redis://" + redis.getHost() + ":" + redis.getMappedPort(6379));
        RedissonClient redisson = Redisson.create(config);
        try {
            RLock lock = redisson.getLock("orders:42");
            assertTrue(lock.tryLock(1, TimeUnit.SECONDS));
            lock.unlock();
        } finally {
            redisson.shutdown();
        }
    }
}
