package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RFuture;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import io.github.lockredis.server.Fault;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.Match;
import io.github.lockredis.server.MessageMatch;

/** Known problems of Redisson 3.52.0, as tests that need no luck. docs/faults.md shows them. */
@Lockredis
class RedissonFaultsTest {
    /** A part of the script by which Redisson renews locks. */
    private static final String RENEWAL = "pexpire', KEYS[i]";

    private static RedissonClient redisson;
    private static RedissonClient other;
    private static RedissonClient brief;
    private static RedissonClient replicated;

    @BeforeAll
    static void connect(LockredisServer server) {
        redisson = Redisson.create(single(server, 30_000));
        other = Redisson.create(single(server, 30_000));
        brief = Redisson.create(single(server, 600));
        Config config = new Config();
        config.useReplicatedServers().addNodeAddress(server.redissonAddress());
        replicated = Redisson.create(config);
    }

    private static Config single(LockredisServer server, long watchdog) {
        Config config = new Config();
        config.setLockWatchdogTimeout(watchdog);
        config.useSingleServer().setAddress(server.redissonAddress()).setTimeout(60_000);
        return config;
    }

    @AfterAll
    static void disconnect() {
        for (RedissonClient client : new RedissonClient[] {redisson, other, brief, replicated}) {
            client.shutdown();
        }
    }

    /** redisson#7367. */
    @Test
    void aLostReplyLocksTwice(LockredisServer server) {
        RLock lock = replicated.getLock("orders:42");
        Fault lost = server.faults().loseReply(new Match().scriptContains("hincrby").key("orders:42"));
        assertTrue(lock.tryLock());
        assertEquals(1, lost.hits());
        assertEquals(2, lock.getHoldCount()); // Redisson has sent the script again
        lock.unlock();
        assertTrue(lock.isHeldByCurrentThread());
        lock.unlock();
    }

    /** redisson#5761, and #3730 for a fair lock. */
    @Test
    void aLostMessageLeavesAWaiterAsleep(LockredisServer server) throws Exception {
        RLock lock = redisson.getLock("orders:42");
        lock.lock();
        Match secondTry = new Match().command("evalsha").key("orders:42").nth(2);
        Fault asleep = server.faults().delayReply(secondTry, Duration.ofMillis(1));
        Fault lost = server.faults().dropMessage(new MessageMatch().channel("redisson_lock__channel:*"));
        CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> {
            other.getLock("orders:42").lock();
            other.getLock("orders:42").unlock();
        });
        asleep.awaitHits(1); // the waiter has subscribed, and tried once more
        lock.unlock();
        assertEquals(1, lost.hits());
        server.awaitFree("orders:42");
        assertFalse(waiter.isDone()); // sleeps until the lease would have ended
        server.command("PUBLISH", "redisson_lock__channel:{orders:42}", "0");
        waiter.get();
    }

    /** redisson#7272. */
    @Test
    void aRenewalComesAfterTheUnlock(LockredisServer server) throws Exception {
        RLock lock = brief.getLock("orders:42");
        Fault late = server.faults().delayReply(new Match().scriptContains("hincrby").key("orders:42"));
        Fault renewal = server.faults().holdRequest(new Match().scriptContains(RENEWAL));
        RFuture<Void> acquired = lock.lockAsync(1);
        late.awaitHits(1);
        lock.unlockAsync(1).get(); // before the reply to lockAsync has arrived
        late.release();
        acquired.get();
        renewal.awaitHits(1); // Redisson renews a lock that it has released
        assertTrue(server.locks().isEmpty());
    }

    /** redisson#4698. */
    @Test
    void noCallbackTellsThatARenewalFails(LockredisServer server) {
        RLock lock = brief.getLock("orders:42");
        lock.lock();
        server.faults().failRequest(new Match().scriptContains(RENEWAL).always(), "ERR the renewal fails");
        server.awaitFree("orders:42"); // the lease has ended, and the holder goes on
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
    }

    /** redisson#3829. */
    @Test
    void aDeletedFairLockWakesNoWaiter(LockredisServer server) throws Exception {
        RLock lock = redisson.getFairLock("orders:42");
        lock.lock();
        Match secondTry = new Match().command("evalsha").key("orders:42").nth(2);
        Fault asleep = server.faults().delayReply(secondTry, Duration.ofMillis(1));
        CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> {
            other.getFairLock("orders:42").lock();
            other.getFairLock("orders:42").unlock();
        });
        asleep.awaitHits(1); // the waiter has subscribed, and tried once more
        server.command("DEL", "orders:42");
        // the lock is free, and nobody can acquire it
        assertFalse(CompletableFuture.supplyAsync(redisson.getFairLock("orders:42")::tryLock).get());
        assertFalse(waiter.isDone());
        lock.unlock(); // tells the waiter
        waiter.get();
    }
}
