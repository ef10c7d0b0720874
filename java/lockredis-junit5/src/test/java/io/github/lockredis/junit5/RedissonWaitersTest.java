package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import io.github.lockredis.server.LeakCheck;
import io.github.lockredis.server.LockredisServer;

/** What becomes of threads that wait in real Redisson when their test ends. */
@Execution(ExecutionMode.CONCURRENT)
class RedissonWaitersTest {
    /** Threads that wait, and how their waits have ended. */
    private static final class Waiting {
        private final List<Thread> threads = new ArrayList<>();
        private final List<String> ends = new CopyOnWriteArrayList<>();

        void start(Callable<?> wait) {
            Thread thread = new Thread(() -> {
                try {
                    ends.add(String.valueOf(wait.call()));
                } catch (Exception e) {
                    ends.add(e.toString());
                }
            });
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }

        /** Reports whether all threads wait for something. */
        boolean areParked() {
            return threads.stream().allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING
                    || thread.getState() == Thread.State.WAITING);
        }

        /** Waits a minute for all threads. Returns what their waits returned, or threw. */
        List<String> join() throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
            for (Thread thread : threads) {
                thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
            }
            assertEquals(threads.size(), ends.size(), "threads that have ended");
            return ends;
        }
    }

    @Test
    void waitersOfASemaphoreFailTheirTestOnly() {
        String text = Run.of(WaitingForPermits.class).failure("leavesWaiters").getMessage();
        for (String channel : new String[] {"{workers}", "{ramps}"}) {
            assertTrue(text.contains("is subscribed to channel \"redisson_sc:" + channel + '"'), text);
        }
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    static class WaitingForPermits extends Connected {
        static final Waiting WAITING = new Waiting();

        @Test
        @Order(1)
        void leavesWaiters(LockredisServer server) throws Exception {
            client.getSemaphore("workers").trySetPermits(0);
            WAITING.start(() -> {
                client.getSemaphore("workers").acquire();
                return "a permit";
            });
            client.getPermitExpirableSemaphore("ramps").trySetPermits(1);
            client.getPermitExpirableSemaphore("ramps").acquire();
            WAITING.start(() -> client.getPermitExpirableSemaphore("ramps").acquire());
            client.getCountDownLatch("packed").trySetCount(1);
            WAITING.start(() -> {
                client.getCountDownLatch("packed").await();
                return "the latch";
            });
            Wait.until(() -> server.leaks().size() == 3
                    && ((List<?>) server.command("PUBSUB", "CHANNELS")).size() == 3);
        }

        @Test
        @Order(2)
        void startsClean(LockredisServer server) throws Exception {
            List<String> ends = WAITING.join();
            assertEquals(1, Collections.frequency(ends, "the latch"), ends::toString);
            assertEquals(2, ends.stream().filter(end -> end.contains("WRONGTYPE")).count(), ends::toString);
            assertEquals(0L, server.command("DBSIZE"));
            assertTrue(client.getSemaphore("workers").trySetPermits(1));
            assertTrue(client.getSemaphore("workers").tryAcquire());
        }
    }

    @Test
    void waitersOfAMissingSemaphoreDoNotLiveIntoTheNextTest() {
        Run.of(WaitingForMissing.class).assertSucceeded(2);
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    static class WaitingForMissing extends Connected {
        static final Waiting WAITING = new Waiting();

        @Test
        @Order(1)
        void leavesWaiters(LockredisServer server) throws Exception {
            client.getSemaphore("deleted").trySetPermits(0);
            for (String name : Arrays.asList("missing", "deleted")) {
                WAITING.start(() -> {
                    client.getSemaphore(name).acquire();
                    return "a permit";
                });
            }
            WAITING.start(() -> client.getPermitExpirableSemaphore("ramps").acquire());
            Wait.until(() -> ((List<?>) server.command("PUBSUB", "CHANNELS")).size() == 3);
            client.getSemaphore("deleted").delete();
        }

        @Test
        @Order(2)
        void getsItsPermits() throws Exception {
            List<String> ends = WAITING.join();
            assertEquals(3, ends.stream().filter(end -> end.contains("WRONGTYPE")).count(), ends::toString);
            for (String name : Arrays.asList("missing", "deleted")) {
                assertTrue(client.getSemaphore(name).trySetPermits(1));
                assertTrue(client.getSemaphore(name).tryAcquire());
            }
            assertTrue(client.getPermitExpirableSemaphore("ramps").trySetPermits(1));
            client.getPermitExpirableSemaphore("ramps").release(
                    client.getPermitExpirableSemaphore("ramps").tryAcquire());
        }
    }

    @Test
    void manyWaitersOfALockFailTheirTestOnly() {
        Run.of(ManyWaitersOfALock.class).failure("leavesWaiters");
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    static class ManyWaitersOfALock extends Connected {
        static final Waiting WAITING = new Waiting();

        @Test
        @Order(1)
        void leavesWaiters(LockredisServer server) throws Exception {
            RLock lock = client.getLock("order:42");
            lock.lock();
            for (int i = 0; i < 20; i++) { // a slow machine wakes them in the time, too
                WAITING.start(() -> {
                    lock.lock();
                    return "the lock";
                });
            }
            Wait.until(() -> WAITING.areParked());
        }

        @Test
        @Order(2)
        void acquires() throws Exception {
            assertEquals(20, Collections.frequency(WAITING.join(), "the lock"));
            assertTrue(client.getLock("order:42").tryLock());
            client.getLock("order:42").unlock();
        }
    }

    @Test
    void waitersInAnOutageFailNoLaterTest() {
        Map<String, Throwable> failures =
                Run.of(WaitingInARestart.class, WaitingInAStop.class, WaitingWithoutConnections.class).failures();
        failures.remove("leavesWaiters"); // a slow machine may hide them from the check
        assertEquals("{}", failures.toString());
    }

    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    abstract static class WaitingInAnOutage extends Connected {
        private final Waiting waiting = new Waiting();

        abstract void breakConnections(LockredisServer server);

        @Test
        @Order(1)
        void leavesWaiters(LockredisServer server) throws Exception {
            RLock lock = client.getLock("order:42");
            lock.lock(2, TimeUnit.SECONDS);
            for (int i = 0; i < 2; i++) {
                waiting.start(() -> {
                    lock.lock(1, TimeUnit.SECONDS);
                    return "the lock";
                });
            }
            Wait.until(() -> ((List<?>) server.command("PUBSUB", "CHANNELS")).size() == 1 && waiting.areParked());
            breakConnections(server);
        }

        @Test
        @Order(2)
        void endsWhenAWaiterAcquires() {
            Wait.until(() -> !waiting.ends.isEmpty());
        }

        @Test
        @Order(3)
        void endsWhenAllHaveAcquired() throws Exception {
            assertEquals(2, waiting.join().size());
        }
    }

    @Lockredis
    static class WaitingInARestart extends WaitingInAnOutage {
        @Override
        void breakConnections(LockredisServer server) {
            server.restart();
        }
    }

    @Lockredis
    static class WaitingInAStop extends WaitingInAnOutage {
        @Override
        void breakConnections(LockredisServer server) {
            server.stop();
        }
    }

    @Lockredis
    static class WaitingWithoutConnections extends WaitingInAnOutage {
        @Override
        void breakConnections(LockredisServer server) {
            server.killClients();
            client.getLock("order:42").unlock();
        }
    }

    @Test
    void onlyBehindAnOutageMayAThreadKeepTheLockForWhichItWaitedBeforeTheTest() {
        for (boolean outage : new boolean[] {false, true}) {
            try (LockredisServer server = LockredisServer.start()) {
                RedissonClient client = Clients.redisson(server);
                CountDownLatch end = new CountDownLatch(1);
                Plain.lock(server, "order:42");
                Waiting waiting = new Waiting();
                waiting.start(() -> {
                    client.getLock("order:42").lock();
                    end.await();
                    return "the lock";
                });
                server.awaitWaiters("order:42", 1);
                if (outage) {
                    server.killClients();
                }
                LeakCheck check = LeakCheck.begin(server);
                Plain.unlock(server, "order:42");
                Wait.until(() -> {
                    server.command("PUBLISH", "redisson_lock__channel:{order:42}", "0");
                    return !server.locks().isEmpty();
                });
                String text = check.end(false);
                assertEquals(outage, text == null, text);
                assertTrue(outage || text.contains("lock \"order:42\" is held by ")
                        && text.endsWith(" (its thread was at work before this test)"), text);
                end.countDown();
                client.shutdown();
            }
        }
    }

    @Test
    void asynchronousWaitersOfASemaphoreEndAlsoWithoutALeak() {
        try (LockredisServer server = LockredisServer.start()) {
            RedissonClient client = Clients.redisson(server);
            for (boolean failed : new boolean[] {false, true}) {
                LeakCheck check = LeakCheck.begin(server);
                if (failed) {
                    client.getSemaphore("workers").trySetPermits(0);
                }
                server.command("CONFIG", "RESETSTAT");
                List<CompletableFuture<Void>> waiters = new ArrayList<>();
                for (int i = 0; i < 25; i++) {
                    waiters.add(client.getSemaphore("workers").acquireAsync().toCompletableFuture());
                }
                Wait.until(() -> evaluated(server) >= 50); // before and after each has subscribed
                assertEquals(failed, check.end(true) != null);
                Wait.until(() -> waiters.stream().allMatch(CompletableFuture::isCompletedExceptionally));
                assertEquals(0L, server.command("DBSIZE"));
            }
            client.shutdown();
        }
    }

    /** Returns how many scripts have run. */
    private static int evaluated(LockredisServer server) {
        Matcher calls = Pattern.compile("cmdstat_evalsha:calls=(\\d+)")
                .matcher(String.valueOf(server.command("INFO", "commandstats")));
        return calls.find() ? Integer.parseInt(calls.group(1)) : 0;
    }

    @Test
    void waitersWithoutAChannelOrWithAnotherOneEndToo() {
        try (LockredisServer server = LockredisServer.start()) {
            RedissonClient client = Clients.redisson(server);
            Map<String, RLock> locks = new LinkedHashMap<>();
            locks.put("spin", client.getSpinLock("spin"));
            locks.put("fair", client.getFairLock("fair"));
            locks.put("multi", client.getMultiLock(client.getLock("multi"), client.getLock("second")));
            locks.forEach((name, lock) -> {
                LeakCheck check = LeakCheck.begin(server);
                (name.equals("multi") ? client.getLock(name) : lock).lock();
                Waiting waiting = new Waiting();
                for (int i = 0; i < 5; i++) {
                    waiting.start(() -> {
                        lock.lock();
                        return "the lock";
                    });
                }
                Wait.until(() -> waiting.areParked());
                assertNotNull(check.end(true), name);
                assertEquals(0L, server.command("DBSIZE"), name);
                Wait.until(() -> waiting.ends.size() == 5);
                assertNull(LeakCheck.begin(server).end(true), name);
            });
            client.shutdown();
        }
    }

    @Test
    void aWaiterThatGetsItsLockWhenTheTestEndsIsALeak() {
        try (LockredisServer server = LockredisServer.start()) {
            RedissonClient client = Clients.redisson(server);
            for (boolean deleted : new boolean[] {false, true}) {
                Wait.until(() -> endsWithAWaiter(server, client, deleted)); // a slow thread acquires too late
            }
            client.shutdown();
        }
    }

    /** Reports whether a test fails that ends with a waiter for a lock. */
    private static boolean endsWithAWaiter(LockredisServer server, RedissonClient client, boolean deleted) {
        LeakCheck check = LeakCheck.begin(server);
        RLock lock = client.getLock("order:42");
        lock.lock();
        Thread waiter = new Thread(lock::lock);
        waiter.setDaemon(true);
        waiter.start();
        Wait.until(() -> ((List<?>) server.command("PUBSUB", "CHANNELS")).size() == 1);
        if (deleted) {
            server.flush();
        } else {
            lock.unlock();
        }
        String text = check.end(true);
        Wait.until(() -> !waiter.isAlive());
        server.flush();
        return text != null && text.contains("lock \"order:42\" is held by " + client.getId());
    }
}
