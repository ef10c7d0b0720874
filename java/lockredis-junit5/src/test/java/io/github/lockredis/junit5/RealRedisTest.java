package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

import io.github.lockredis.server.Lock;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.ServerState;

/** A real Redis tells of Redisson's locks what lockredis tells, but for what no key has. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RealRedisTest {
    private Process process;
    private LockredisServer real;
    private LockredisServer own;
    private final List<RedissonClient> clients = new ArrayList<>(); // of real and of own
    private final List<Thread> threads = new ArrayList<>();

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        try {
            process = new ProcessBuilder("redis-server", "--port", "" + port, "--save", "", "--dir",
                    folder.toString()).redirectErrorStream(true).redirectOutput(new File("/dev/null")).start();
        } catch (IOException e) {
            assumeTrue(false, "no redis-server");
        }
        own = LockredisServer.start();
        System.setProperty("lockredis.uri", "redis://127.0.0.1:" + port);
        try {
            Wait.until(() -> {
                try {
                    real = LockredisServer.start();
                    return true;
                } catch (RuntimeException e) { // it does not listen yet
                    return false;
                }
            });
        } finally {
            System.clearProperty("lockredis.uri");
        }
    }

    @BeforeEach
    void connect() {
        real.flush();
        own.flush();
        clients.add(Clients.redisson(real));
        clients.add(Clients.redisson(own));
    }

    /** Ends the waiters, and with the clients their subscriptions. */
    @AfterEach
    void disconnect() throws InterruptedException {
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join();
        }
        threads.clear();
        clients.forEach(RedissonClient::shutdown);
        clients.clear();
        for (LockredisServer server : Arrays.asList(real, own)) {
            Wait.until(() -> server.command("PUBSUB", "CHANNELS").equals(Collections.emptyList()));
        }
    }

    @AfterAll
    void stop() throws InterruptedException {
        if (own != null) {
            own.close();
        }
        if (process != null) {
            process.destroy();
            process.waitFor();
        }
    }

    /** What a test does with a client of each of the two. */
    private interface Action {
        void run(RedissonClient client) throws InterruptedException;
    }

    /** Does an action on both, and fails unless both tell these locks. */
    private void assertLocks(Action action, String... locks) throws InterruptedException {
        for (RedissonClient client : clients) {
            action.run(client);
        }
        String wanted = String.join("\n", locks);
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        while (System.nanoTime() < end && !(told(own).equals(wanted) && told(real).equals(wanted))) {
            Thread.sleep(5); // a waiter is on its way
        }
        assertEquals(wanted, told(own));
        assertEquals(wanted, told(real));
    }

    /** Returns what a server tells, with "t" for times and "owner" for owners. */
    private static String told(LockredisServer server) {
        return server.locks().stream().map(RealRedisTest::told).collect(Collectors.joining("\n"));
    }

    private static String told(Lock lock) {
        StringBuilder text = new StringBuilder(lock.kind() + " " + lock.name() + time(lock.ttl().isPresent()));
        lock.holders().stream().map(holder -> " " + owner(holder.owner()) + " " + holder.mode() + holder.holds()
                + time(holder.ttl().isPresent())).sorted().forEach(text::append);
        lock.queue().forEach(waiter -> text.append(" waits ").append(owner(waiter.owner())));
        return text.toString();
    }

    private static String time(boolean has) {
        return has ? " t" : "";
    }

    private static String owner(String owner) {
        return owner.replaceAll("^[\\da-f-]{36}:\\d+$", "owner").replaceAll("^[\\da-f]{32}$", "permit");
    }

    /** Runs an action in a thread of its own, which may wait. */
    private void beside(RedissonClient client, Action action) {
        Thread thread = new Thread(() -> {
            try {
                action.run(client);
            } catch (Exception e) {
                // the data, or the client, is gone
            }
        });
        threads.add(thread);
        thread.setDaemon(true);
        thread.start();
    }

    @Test
    void aPlainLock() throws InterruptedException {
        assertLocks(client -> {
            RLock lock = client.getLock("order:1");
            lock.lock();
            lock.lock();
            beside(client, other -> lock.lockInterruptibly());
        }, "lock order:1 t owner 2 t waits ");
    }

    @Test
    void aLockWithBracesAndASpinLock() throws InterruptedException {
        assertLocks(client -> {
            client.getLock("a{order}1").lock();
            client.getSpinLock("spin").lock();
        }, "lock a{order}1 t owner 1 t", "lock spin t owner 1 t");
    }

    @Test
    void aFairLockAndItsQueue() throws InterruptedException {
        assertLocks(client -> {
            client.getFairLock("fair").lock();
            beside(client, other -> other.getFairLock("fair").lockInterruptibly());
        }, "fair fair t owner 1 t waits owner");
    }

    @Test
    void readersAndAWriter() throws InterruptedException {
        assertLocks(client -> {
            RReadWriteLock read = client.getReadWriteLock("read");
            read.readLock().lock();
            read.readLock().lock();
            beside(client, other -> other.getReadWriteLock("read").writeLock().lockInterruptibly());
            RReadWriteLock both = client.getReadWriteLock("write");
            both.writeLock().lock();
            both.readLock().lock();
        }, "read-write read t owner read2 t waits ", "read-write write t owner read1 t owner write1 t");
    }

    @Test
    void aFencedLock() throws InterruptedException {
        assertLocks(client -> client.getFencedLock("fenced").lock(), "fenced fenced t owner 1 t");
    }

    @Test
    void aMultiLockOverAGroup() throws InterruptedException {
        assertLocks(client -> client.getMultiLock("group", Arrays.asList("a", "b")).lock(),
                "multi group t owner 1 t");
    }

    @Test
    void permitsAndWaitersOfSemaphores() throws InterruptedException {
        assertLocks(client -> {
            RPermitExpirableSemaphore permits = client.getPermitExpirableSemaphore("permits");
            permits.trySetPermits(2);
            permits.acquire();
            permits.acquire(1, TimeUnit.HOURS);
            RSemaphore semaphore = client.getSemaphore("semaphore");
            semaphore.trySetPermits(1);
            semaphore.acquire();
            beside(client, other -> other.getSemaphore("semaphore").acquire());
        }, "permit-semaphore permits permit 1 permit 1 t", "semaphore semaphore waits ");
    }

    @Test
    void aLatchThatIsWaitedFor() throws InterruptedException {
        assertLocks(client -> {
            RCountDownLatch latch = client.getCountDownLatch("latch");
            latch.trySetCount(1);
            beside(client, other -> other.getCountDownLatch("latch").await());
        }, "count-down-latch latch waits ");
    }

    @Test
    void dataIsNoLock() throws InterruptedException {
        assertLocks(client -> {
            client.getMap("map").put("a", 1);
            client.getScoredSortedSet("{scores}:timeout").add(1, "a");
            client.getBucket("bucket").set("a");
            client.getList("redisson_lock_queue").add("a");
            client.getTopic("topic").addListener(String.class, (channel, message) -> { });
        }, new String[] {""});
    }

    @Test
    void theNamesMayBeAPatternAndAFailureTellsThem() {
        clients.get(0).getLock("order:2").lock();
        clients.get(0).getLock("invoice:2").lock();
        List<Lock> locks = real.locks("order:*");
        assertEquals(1, locks.size());
        assertFalse(locks.get(0).holders().get(0).client().isKnown());
        assertFalse(locks.get(0).holders().get(0).heldFor().isPresent());
        assertEquals(clients.get(0).getId() + ":" + Thread.currentThread().getId(),
                locks.get(0).holders().get(0).owner());
        AssertionError failure = new AssertionError();
        ServerState.addTo(failure, real);
        String state = failure.getSuppressed()[0].getMessage();
        assertTrue(state.contains("\n  lock invoice:2, ttl "), state);
    }
}
