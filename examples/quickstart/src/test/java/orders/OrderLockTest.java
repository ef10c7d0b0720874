package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.Lock;
import io.github.lockredis.server.LockredisServer;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

@Lockredis
class OrderLockTest {
    RedissonClient redisson;

    @BeforeEach
    void connect(LockredisServer server) {
        Config config = new Config();
        config.useSingleServer().setAddress(server.redissonAddress());
        redisson = Redisson.create(config);
    }

    @AfterEach
    void disconnect() {
        redisson.shutdown();
    }

    @Test
    void onlyOneThreadHoldsTheLock() {
        RLock lock = redisson.getLock("orders:42");
        lock.lock();
        assertFalse(CompletableFuture.supplyAsync(lock::tryLock).join());
        lock.unlock();
    }

    @Test
    void theServerNamesTheHolder(LockredisServer server) {
        RLock lock = redisson.getLock("orders:42");
        lock.lock();
        Lock held = server.locks().get(0);
        assertEquals("orders:42", held.name());
        assertEquals(redisson.getId() + ":" + Thread.currentThread().getId(),
                held.holders().get(0).owner());
        lock.unlock();
    }

    @Test
    void anOutageTakesTheLock(LockredisServer server) {
        RLock lock = redisson.getLock("orders:42");
        lock.lock();
        server.restart(); // the same port, without the data
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
    }
}
