package lockredis;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.clients.jedis.Jedis;

/** The default watchdog: a lease of 30 s, renewed every 10 s. Only this scenario waits for it. */
class DefaultWatchdogTest extends Scenario {
    @Test
    void leaseOf30SecondsIsRenewedAfter10() {
        Config config = new Config();
        config.useSingleServer().setAddress(Api.address(Server.shared().address()));
        RedissonClient plain = closing(Redisson.create(config));
        RLock lock = plain.getLock(key);
        Jedis jedis = observer();
        lock.lock();
        assertTrue(jedis.pttl(key) > 29_000);
        Await.until("a third of the lease", 12_000, () -> jedis.pttl(key) < 20_500);
        Await.until("the renewal", 5_000, () -> jedis.pttl(key) > 29_000);
        lock.unlock();
    }
}
