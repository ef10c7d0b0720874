package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RTransaction;
import org.redisson.api.RedissonClient;
import org.redisson.api.TransactionOptions;
import org.redisson.api.options.LocalCachedMapOptions;

import io.github.lockredis.server.LeakCheck;
import io.github.lockredis.server.LockredisServer;

/** What real Redisson leaves behind, with a client that the class shares. */
@Execution(ExecutionMode.CONCURRENT)
class RedissonLeaksTest {
    /** Compares texts, the second one with its numbers, times and UUIDs as N and UUID. */
    static void assertMatches(String expected, String text) {
        assertEquals(sorted(expected), sorted(text
                .replaceAll("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID")
                .replaceAll("(?<=another |acquired |enqueued )[0-9.]+(ms|s)", "N")
                .replaceAll("\\b(?<!127\\.|0\\.)[0-9]+\\b(?!\\.0)", "N")));
    }

    private static String sorted(String lines) {
        return Arrays.stream(lines.split("\n")).sorted().collect(Collectors.joining("\n"));
    }

    @Test
    void whatAClassWideClientNeedsIsNoLeak() {
        Run.of(Clean.class).assertSucceeded(7);
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    static class Clean {
        static RedissonClient client;

        @BeforeAll
        static void connect(LockredisServer server) {
            client = Clients.plain(server);
            client.getTopic("orders").addListener(String.class, (channel, order) -> { });
            client.getPatternTopic("__keyspace@0__:orders:*")
                    .addListener(String.class, (pattern, channel, event) -> { });
            client.getLocalCachedMap(LocalCachedMapOptions.<String, String>name("prices")).size();
        }

        @AfterAll
        static void disconnect() {
            client.shutdown();
        }

        @Test
        @Order(1)
        void releasesALock() {
            RLock lock = client.getLock("order:1");
            lock.lock();
            lock.unlock();
        }

        @Test
        @Order(2)
        void waitsForALock() throws Exception {
            RLock lock = client.getLock("order:1");
            lock.lock();
            Thread other = new Thread(() -> {
                client.getLock("order:1").lock();
                client.getLock("order:1").unlock();
            });
            other.start();
            Wait.until(() -> client.getKeys().count() == 1 && lock.isLocked());
            lock.unlock();
            other.join();
        }

        @Test
        @Order(3)
        void givesUpALock() throws Exception {
            RLock lock = client.getFairLock("order:2");
            lock.lock();
            Thread other = new Thread(() -> {
                try {
                    client.getFairLock("order:2").tryLock(20, TimeUnit.MILLISECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            other.start();
            other.join();
            lock.unlock();
        }

        @Test
        @Order(6)
        void givesUpWhileItSubscribes() throws Exception {
            for (int millis = 1; millis < 10; millis++) {
                RLock lock = client.getLock("order:" + millis);
                int wait = millis;
                lock.lock();
                Thread other = new Thread(() -> {
                    try {
                        lock.tryLock(wait, TimeUnit.MILLISECONDS);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
                other.start();
                other.join();
                lock.unlock();
            }
        }

        @Test
        @Order(7)
        void givesUpAWaitForACountWhileItSubscribes() throws Exception {
            for (int millis = 1; millis < 10; millis++) {
                RCountDownLatch latch = client.getCountDownLatch("orders:" + millis);
                latch.trySetCount(1);
                assertFalse(latch.await(millis, TimeUnit.MILLISECONDS));
                RSemaphore workers = client.getSemaphore("workers:" + millis);
                workers.trySetPermits(1);
                workers.acquire();
                assertFalse(workers.tryAcquire(Duration.ofMillis(millis)));
                workers.release();
                RPermitExpirableSemaphore ramps = client.getPermitExpirableSemaphore("ramps:" + millis);
                ramps.trySetPermits(1);
                String permit = ramps.acquire();
                assertNull(ramps.tryAcquire(millis, TimeUnit.MILLISECONDS));
                ramps.release(permit);
            }
        }

        @Test
        @Order(4)
        void usesReadAndWriteLocks() {
            client.getReadWriteLock("order:3").readLock().lock();
            client.getReadWriteLock("order:3").readLock().unlock();
            client.getReadWriteLock("order:3").writeLock().lock();
            client.getReadWriteLock("order:3").writeLock().unlock();
        }

        @Test
        @Order(5)
        void connectsAgain(LockredisServer server) {
            int subscriptions = server.leaks().size();
            assertTrue(server.killClients() > 0);
            Wait.until(() -> client.getBucket("key").get() == null);
            Wait.until(() -> server.leaks().size() >= subscriptions);
        }
    }

    @Test
    void aForgottenLockFailsItsTestOnly() {
        String text = Run.of(ForgottenLock.class).failure("forgets").getMessage();
        assertMatches("a leak on redis://127.0.0.1:N:\n"
                + "  lock \"order:N\" is held by UUID:N, hold count N, for another N, "
                + "acquired N ago; its client was 127.0.0.1:N (orders)", text);
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    static class ForgottenLock extends Connected {
        @Test
        @Order(1)
        void forgets() {
            client.getLock("order:42").lock();
        }

        @Test
        @Order(2)
        void startsClean() {
            assertEquals(false, client.getLock("order:42").isLocked());
        }
    }

    @Test
    void anOpenTransactionFailsItsTestOnly() {
        String text = Run.of(OpenTransaction.class).failure("commitsNothing").getMessage();
        assertTrue(text.startsWith("a leak on ") && text.contains(" is held by ") && !text.contains("dataKeys"), text);
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    static class OpenTransaction extends Connected {
        @Test
        @Order(1)
        void commitsNothing(LockredisServer server) {
            RTransaction transaction = client.createTransaction(TransactionOptions.defaults());
            transaction.getBucket("order:42").set("packed");
            assertEquals(1, server.locks().size(), () -> server.locks().toString());
            String owner = client.getId() + ":" + Thread.currentThread().getId() + ":";
            assertTrue(server.locks().get(0).holders().get(0).owner().startsWith(owner));
        }

        @Test
        @Order(2)
        void commits() {
            RTransaction transaction = client.createTransaction(TransactionOptions.defaults());
            transaction.getBucket("order:42").set("packed");
            transaction.commit();
            assertEquals("packed", client.getBucket("order:42").get());
        }
    }

    @Test
    void aWaitingThreadFailsItsTestOnly() {
        String text = Run.of(WaitingThread.class).failure("leavesAWaiter").getMessage();
        assertMatches("N leaks on redis://127.0.0.1:N:\n"
                + "  lock \"order:N\" is held by UUID:N, hold count N, for another N, "
                + "acquired N ago; its client was 127.0.0.1:N (orders)\n"
                + "  fair lock \"order:N\" is held by UUID:N, hold count N, for another N, "
                + "acquired N ago; its client was 127.0.0.1:N (orders)\n"
                + "  fair lock \"order:N\" is queued for by UUID:N, enqueued N ago; "
                + "its client was 127.0.0.1:N (orders)\n"
                + "  client 127.0.0.1:N (orders) is subscribed to channel "
                + "\"redisson_lock__channel:{order:N}:UUID:N\"\n"
                + "  client 127.0.0.1:N (orders) is subscribed to channel "
                + "\"redisson_lock__channel:{order:N}\"", text);
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    static class WaitingThread extends Connected {
        static final CountDownLatch ACQUIRED = new CountDownLatch(2);

        @Test
        @Order(1)
        void leavesAWaiter(LockredisServer server) {
            client.getLock("order:42").lock();
            client.getFairLock("order:43").lock();
            List<RLock> locks =
                    Arrays.asList(client.getLock("order:42"), client.getFairLock("order:43"));
            for (RLock lock : locks) {
                Thread waiter = new Thread(() -> {
                    lock.lock();
                    ACQUIRED.countDown();
                });
                waiter.setDaemon(true);
                waiter.start();
            }
            Wait.until(() -> server.leaks().size() == 5);
        }

        @Test
        @Order(2)
        void startsClean(LockredisServer server) throws Exception {
            assertTrue(ACQUIRED.await(10, TimeUnit.SECONDS));
            assertEquals("[]", server.leaks().toString());
        }
    }

    @Test
    void aLockOfAnIdleThreadOfRedissonIsToldEachTime() throws Exception {
        try (LockredisServer server = LockredisServer.start()) {
            RedissonClient client = Clients.plain(server);
            long netty = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("redisson-netty"))
                    .mapToLong(Thread::getId).findFirst().getAsLong();
            for (int i = 0; i < 2; i++) {
                LeakCheck check = LeakCheck.begin(server);
                client.getLock("order:1").lockAsync(netty).toCompletableFuture().join();
                String text = String.valueOf(check.end(true));
                assertTrue(text.contains("lock \"order:1\" is held by " + client.getId() + ":" + netty), text);
            }
            client.shutdown();
        }
    }

    @Test
    void aSubscriptionFailsItsTestOnly() {
        String text = Run.of(LeftSubscription.class).failure("subscribes").getMessage();
        assertMatches("a leak on redis://127.0.0.1:N:\n"
                + "  client 127.0.0.1:N (orders) is subscribed to channel \"packed\"", text);
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    static class LeftSubscription extends Connected {
        @BeforeAll
        void listen() {
            client.getTopic("orders").addListener(String.class, (channel, order) -> { });
        }

        @Test
        @Order(1)
        void subscribes() {
            client.getTopic("packed").addListener(String.class, (channel, order) -> { });
        }

        @Test
        @Order(2)
        void startsClean(LockredisServer server) {
            assertEquals(2, server.leaks().size(), () -> server.leaks().toString());
        }
    }
}
