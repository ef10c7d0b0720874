package lockredis;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
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
        long before = now(jedis);
        lock.lock();
        long after = now(jedis);
        long end = end(jedis);
        assertTrue(end >= before + 30_000 && end <= after + 30_000, "a lease of " + (end - before) + " ms");
        Await.until("the renewal", 17_000, () -> end(jedis) > end);
        long renewed = end(jedis) - end;
        assertTrue(renewed > 9_500 && renewed < 15_000, "renewed after " + renewed + " ms");
        lock.unlock();
    }

    /** The server's time, in Unix milliseconds. */
    private static long now(Jedis jedis) {
        List<String> time = jedis.time();
        return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
    }

    /** When the lease ends, in Unix milliseconds: a machine that stalls reads the same. */
    private long end(Jedis jedis) {
        return (Long) jedis.sendCommand(() -> "PEXPIRETIME".getBytes(), key);
    }
}
