package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

class OrdersTest {
    static Lockredis server;
    static RedissonClient redisson;
    static RedissonClient other;

    @BeforeAll
    static void start() throws Exception {
        server = new Lockredis();
        redisson = connect();
        other = connect();
    }

    @AfterAll
    static void stop() {
        redisson.shutdown();
        other.shutdown();
        server.close();
    }

    static RedissonClient connect() {
        Config config = new Config();
        config.useSingleServer().setAddress(server.address).setConnectionMinimumIdleSize(2);
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
