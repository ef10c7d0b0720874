package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.Lock;
import io.github.lockredis.server.LockredisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

@Lockredis
class OrdersTest {
    @Lockredis static LockredisServer server;
    static RedissonClient redisson;
    static RedissonClient other;

    @BeforeAll
    static void start() {
        redisson = connect();
        other = connect();
    }

    @AfterAll
    static void stop() {
        redisson.shutdown();
        other.shutdown();
    }

    static RedissonClient connect() {
        Config config = new Config();
        config.useSingleServer().setAddress(server.redissonAddress()).setConnectionMinimumIdleSize(2);
        return Redisson.create(config);
    }

    @Test
    void anOrderIsShippedOnceByManyThreadsAndProcesses() throws Exception {
        AtomicInteger shipped = new AtomicInteger();
        Orders here = new Orders(redisson, id -> shipped.incrementAndGet());
        Orders there = new Orders(other, id -> shipped.incrementAndGet());
        ExecutorService threads = Executors.newFixedThreadPool(8);
        List<Future<Boolean>> answers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Orders orders = i % 2 == 0 ? here : there;
            answers.add(threads.submit(() -> orders.ship("42")));
        }
        int yes = 0;
        for (Future<Boolean> answer : answers) {
            yes += answer.get(30, TimeUnit.SECONDS) ? 1 : 0;
        }
        threads.shutdown();
        assertEquals(1, yes);
        assertEquals(1, shipped.get());
        assertFalse(redisson.getLock("orders:42").isLocked());
    }

    @Test
    void theLockIsHeldWhileTheCourierIsAway() {
        List<Lock> held = new ArrayList<>();
        new Orders(redisson, id -> held.addAll(server.locks("orders:*"))).ship("44");
        assertEquals("orders:44", held.get(0).name());
        assertEquals(1, held.get(0).holders().get(0).holds());
        assertTrue(server.locks().isEmpty());
    }

    @Test
    void aFailedDeliveryIsTriedAgain() {
        Orders orders = new Orders(redisson, id -> {
            throw new IllegalStateException("no courier");
        });
        assertThrows(IllegalStateException.class, () -> orders.ship("45"));
        assertTrue(new Orders(other, id -> { }).ship("45"));
    }

    @Test
    void anOutageDoesNotEndTheService() {
        Orders orders = new Orders(redisson, id -> { });
        assertTrue(orders.ship("46"));
        server.restart(); // on the same port, without the data
        assertTrue(orders.ship("46"));
    }

    @Test
    void aCrashedHoldersLockIsFreeWhenItsLeaseEnds() throws Exception {
        RedissonClient crashing = connect();
        crashing.getLock("orders:43").lock(300, TimeUnit.MILLISECONDS);
        crashing.shutdown();
        long start = System.nanoTime();
        assertTrue(new Orders(redisson, id -> { }).ship("43"));
        long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        assertTrue(waited < 5_000, "waited " + waited + " ms");
    }
}
