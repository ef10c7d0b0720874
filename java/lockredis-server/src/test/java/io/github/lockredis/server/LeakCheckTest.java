package io.github.lockredis.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which leaks are those of one test. */
class LeakCheckTest {
    private static final String CLIENT = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:";
    private static final String OWNER = CLIENT + Long.MAX_VALUE / 10; // no thread of this JVM

    private final List<ExecutorService> executors = new ArrayList<>();
    private LockredisServer server;

    @BeforeEach
    void start() {
        server = LockredisServer.start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        for (ExecutorService executor : executors) {
            executor.shutdownNow();
            executor.awaitTermination(1, TimeUnit.MINUTES);
        }
        server.close();
    }

    /** Has the end of the test end an executor, and its tasks. */
    private <T extends ExecutorService> T ended(T executor) {
        executors.add(executor);
        return executor;
    }

    private void acquire(String name) {
        acquire(name, OWNER);
    }

    private void acquire(String name, String owner) {
        server.command("EVAL", "redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], 3600000)",
                "1", name, owner);
    }

    @Test
    void aLookThatTakesLongHidesNoLeak() {
        AtomicInteger looks = new AtomicInteger();
        LeakCheck check = LeakCheck.begin(server, leak -> {
            if (looks.incrementAndGet() == 3) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1500));
            }
            return true;
        });
        acquire("after");
        assertTrue(check.end(false).contains("\"after\""));
    }

    @Test
    void whatWasThereBeforeIsNoLeak() {
        acquire("before");
        LeakCheck check = LeakCheck.begin(server);
        assertNull(check.end(false));
        acquire("after");
        String text = check.end(false);
        assertTrue(text.startsWith("a leak on " + server.redissonAddress() + ":\n  lock \"after\" is "
                + "held by " + OWNER), text);
    }

    @Test
    void oneMoreHoldOfALockThatWasHeldBeforeIsALeak() {
        acquire("before");
        acquire("before");
        LeakCheck check = LeakCheck.begin(server);
        acquire("before");
        String text = check.end(false);
        assertTrue(text.startsWith("a leak on ") && text.contains("lock \"before\" is held by " + OWNER
                + ", hold count 3,") && text.endsWith(" (when the test began, the hold count was 2)"), text);
        check = LeakCheck.begin(server);
        assertNull(check.end(false));
        server.command("HINCRBY", "before", OWNER, "-1");
        assertNull(check.end(false));
    }

    @Test
    void whatAppearsBehindTheCheckIsFoundOnce() {
        acquire("before");
        LeakCheck check = LeakCheck.begin(server).dataKeys("idem:*");
        assertNull(check.endAgain(false)); // it has not ended
        assertNull(check.end(false));
        acquire("idem:1");
        acquire("late");
        String text = check.endAgain(false);
        assertTrue(text.startsWith("a leak on " + server.redissonAddress() + ":\n  lock \"late\" is "
                + "held by " + OWNER), text);
        assertNull(check.endAgain(false));
    }

    @Test
    void aLockThatIsDeletedForTheNextTestIsNotItsOwn() throws IOException {
        acquire("late", CLIENT + Thread.currentThread().getId());
        try (Connection client = Clients.connect(server)) {
            client.call("SUBSCRIBE", "news"); // by the constructor
            List<Collection<Leak>> deleted = LeakCheck.empty(server);
            assertEquals(0L, server.command("DBSIZE"));
            LeakCheck next = LeakCheck.begin(server, deleted);
            assertNull(next.end(true));
            acquire("late", CLIENT + Thread.currentThread().getId());
            String text = next.end(true);
            assertTrue(text.startsWith("a leak on ") && text.contains("lock \"late\" is held by "), text);
        }
    }

    @Test
    void whatTheCheckHasToldIsNotToldAgain() {
        LeakCheck check = LeakCheck.begin(server);
        acquire("told");
        assertTrue(check.end(false).startsWith("a leak on "));
        assertNull(check.endAgain(false));
        check = LeakCheck.begin(server);
        acquire("also told");
        assertTrue(check.end(false).startsWith("a leak on "));
        acquire("late");
        String text = check.endAgain(true);
        assertTrue(text.startsWith("a leak on ") && text.contains("late"), text);
        assertEquals(0, server.locks().size()); // it is clean
    }

    @Test
    void aSecondLookThatFindsNothingNewIsTheOnlyOne() {
        acquire("before");
        AtomicInteger looks = new AtomicInteger();
        LeakCheck check = LeakCheck.begin(server, leak -> {
            looks.incrementAndGet();
            return true;
        });
        assertNull(check.end(true));
        int before = looks.get();
        assertNull(check.endAgain(true));
        assertEquals(before + 1, looks.get());
    }

    @Test
    void aLateLockThatIsReleasedIsNoLeak() {
        LeakCheck check = LeakCheck.begin(server, leak -> {
            server.command("DEL", leak.name());
            return true;
        });
        assertNull(check.end(true));
        acquire("late");
        assertNull(check.endAgain(true));
    }

    @Test
    void aSecondLookAtAServerThatDoesNotRunFindsNothing() {
        LeakCheck check = LeakCheck.begin(server);
        assertNull(check.end(true));
        server.stop();
        assertNull(check.endAgain(true));
    }

    @Test
    void aLateReleaseOfOneMoreHoldIsNoLeak() {
        acquire("before");
        AtomicInteger looks = new AtomicInteger();
        LeakCheck check = LeakCheck.begin(server, leak -> {
            if (looks.incrementAndGet() == 2) {
                server.command("HINCRBY", leak.name(), leak.owner(), "-1");
            }
            return true;
        });
        acquire("before");
        assertNull(check.end(false));
    }

    private void acquireMany(int locks) {
        server.command("EVAL", "for i = 1, ARGV[2] do redis.call('hincrby', 'order:' .. i, ARGV[1], 1)"
                + " redis.call('pexpire', 'order:' .. i, 3600000) end",
                "0", CLIENT + Thread.currentThread().getId(), Integer.toString(locks));
    }

    @Test
    void manyLeaksAreCountedAndLookedAtTwice() {
        int locks = 2000;
        AtomicInteger looks = new AtomicInteger();
        LeakCheck check = LeakCheck.begin(server, leak -> {
            looks.incrementAndGet();
            return true;
        });
        acquireMany(locks);
        String[] lines = check.end(false).split("\n");
        assertEquals(22, lines.length);
        assertTrue(lines[0].startsWith("2000 leaks on "), lines[0]);
        assertTrue(lines[20].startsWith("  lock \"order:"), lines[20]);
        assertEquals("  and 1980 more", lines[21]);
        assertEquals(2 * locks, looks.get());
    }

    @Test
    void twentyLeaksAreAllDescribed() {
        LeakCheck check = LeakCheck.begin(server);
        acquireMany(20);
        String text = check.end(false);
        assertEquals(21, text.split("\n").length, text);
        assertTrue(!text.contains(" more"), text);
    }

    @Test
    void manyLocksThatAreReleasedLateAreNoLeaks() {
        AtomicInteger looks = new AtomicInteger();
        LeakCheck check = LeakCheck.begin(server, leak -> {
            if (looks.incrementAndGet() == 2000) {
                server.flush();
            }
            return true;
        });
        acquireMany(2000);
        assertNull(check.end(false));
        assertEquals(2000, looks.get());
    }

    @Test
    void onlyTheLeaksThatCountAreFound() {
        LeakCheck check = LeakCheck.begin(server, leak -> leak.name().startsWith("order:"));
        acquire("other");
        assertNull(check.end(false));
        acquire("order:1");
        assertTrue(check.end(false).contains("order:1"));
    }

    @Test
    void aKeyThatIsDataIsNoLeak() throws IOException {
        String uuid = OWNER.substring(0, 36);
        String hint = "\nIf idem:1 is data and no lock, name its key with dataKeys";
        LeakCheck check = LeakCheck.begin(server);
        server.command("SET", "idem:1", uuid, "NX", "EX", "3600");
        acquire("order:1");
        String text = check.end(false);
        assertTrue(text.startsWith("2 leaks on ") && text.endsWith(hint), text);
        text = check.dataKeys("other", "idem:*").end(false);
        assertTrue(text.startsWith("a leak on ") && text.contains("order:1") && !text.contains("data"), text);
        assertNull(check.dataKeys("idem:?", "order:[0-9]").end(false));
        server.assertNoLeaks("idem:*", "order:1");
        assertTrue(assertThrows(AssertionError.class, () -> server.assertNoLeaks("order:1")).getMessage()
                .endsWith(hint));
        try (Connection subscriber = Clients.connect(server)) {
            subscriber.call("SUBSCRIBE", "redisson_lock__channel:{idem:1}"); // a standby waits for it
            assertNull(check.dataKeys("idem:*", "order:*").end(false));
            subscriber.call("SUBSCRIBE", "idem:2"); // no key
            text = check.dataKeys("idem:*", "order:*").end(false);
            assertTrue(text.startsWith("a leak on ") && text.contains("idem:2"), text);
        }
    }

    @Test
    void aLockOfATransactionIsNoData() {
        String id = OWNER.substring(0, 36);
        for (String transaction : Arrays.asList(id.replace("-", ""), id)) {
            LeakCheck check = LeakCheck.begin(server);
            acquire("order:1", OWNER + ":" + transaction);
            String text = String.valueOf(check.end(true));
            assertTrue(text.startsWith("a leak on ") && !text.contains("data"), text);
        }
    }

    @Test
    void aLockOfATransactionHasAThread() {
        String transaction = ":f954f95e55a95552a3f3b39a6ae3f13f";
        String here = CLIENT + Thread.currentThread().getId();
        assertTrue(Owners.isCurrent(here + transaction));
        assertTrue(Owners.isCurrent(here + ":" + OWNER.substring(0, 36)));
        assertFalse(Owners.isThread(here + transaction + "0"));
        assertFalse(Owners.isThread(here + transaction.substring(0, 32)));
        assertFalse(Owners.isThread(here + ":f954f95e-55a95552a3f3b39a6ae3f13f"));
    }

    @Test
    void theLocksOfRedissonAndSpringIntegrationAreKnown() {
        String spring = "org.springframework.integration.redis.util.RedisLockRegistry";
        for (String type : Arrays.asList("org.redisson.RedissonLock", "org.redisson.RedissonSpinLock",
                "org.redisson.RedissonFairLock", "org.redisson.RedissonPermitExpirableSemaphore",
                spring + "$RedisSpinLock", spring + "$RedisPubSubLock", spring + "$RedisLock")) {
            assertTrue(Owners.LOCK.matcher(type).matches(), type);
        }
        for (String type : Arrays.asList("org.redisson.Redisson", "org.redisson.RedissonSemaphore", spring,
                spring + "$RedisLockType", spring + "$RedisPubSubLock$RedisUnLockNotifyMessageListener")) {
            assertFalse(Owners.LOCK.matcher(type).matches(), type);
        }
    }

    @Test
    void aHashWithoutATimeMayBeData() {
        LeakCheck check = LeakCheck.begin(server);
        acquire("stock");
        server.command("PERSIST", "stock");
        String text = check.end(true);
        assertTrue(text.endsWith("\nIf stock is data and no lock, name its key with dataKeys"), text);
    }

    @Test
    void aCleanServerHasNoDataLeft() {
        LeakCheck check = LeakCheck.begin(server);
        acquire("order:1");
        assertTrue(check.end(true).contains("order:1"));
        assertEquals(0L, server.command("DBSIZE"));
    }

    @Test
    void waitersOfALockAreWoken() throws IOException {
        LeakCheck check = LeakCheck.begin(server);
        acquire("order:1");
        try (Connection waiter = Clients.connect(server);
                Connection shards = Clients.connect(server)) {
            String channel = "redisson_lock__channel:{order:1}";
            waiter.call("SUBSCRIBE", channel);
            shards.call("SSUBSCRIBE", channel);
            assertTrue(check.end(true).startsWith("3 leaks on "));
            assertEquals(Arrays.asList("message", channel, "0"), waiter.call("PING"));
            assertEquals(Arrays.asList("smessage", channel, "0"), shards.call("PING"));
        }
    }

    @Test
    void waitersThatDoNotCountAreWokenTooUnlessTheyWereThereBefore() throws IOException {
        try (Connection before = Clients.connect(server); Connection waiter = Clients.connect(server)) {
            before.call("SUBSCRIBE", "redisson_lock__channel:{order:1}");
            LeakCheck check = LeakCheck.begin(server, leak -> !leak.owner().isEmpty()).allowTasks();
            String channel = "redisson_lock__channel:{order:2}";
            waiter.call("SUBSCRIBE", channel);
            assertNull(check.end(true));
            acquire("order:2");
            assertTrue(check.end(true).startsWith("a leak on "));
            assertEquals(Arrays.asList("message", channel, "0"), waiter.call("PING"));
            assertEquals(Arrays.asList("pong", ""), before.call("PING"));
        }
    }

    @Test
    void waitersOfASemaphoreFindNoSemaphoreWhenTheyAreWoken() throws IOException {
        server.command("CONFIG", "SET", "notify-keyspace-events", "KEA");
        for (String name : new String[] {"workers", "{workers}:1", "redisson_bqs:{workers}"}) {
            LeakCheck check = LeakCheck.begin(server, leak -> leak.name().startsWith("redisson_sc:"));
            String channel = "redisson_sc:" + (name.contains("{") ? name : "{" + name + "}");
            String events = "__keyspace@1__:" + name;
            try (Connection waiter = Clients.connect(server)) {
                waiter.call("SELECT", "1");
                waiter.call("SET", name, "0");
                waiter.call("SUBSCRIBE", channel);
                waiter.call("SUBSCRIBE", events);
                String text = check.end(true);
                assertTrue(text.startsWith("a leak on ") && text.contains(channel), text);
                assertEquals(Arrays.asList("message", events, "rpush"), waiter.call("PING"));
                assertEquals(Arrays.asList("message", channel, "1000"), waiter.call("PING"));
                assertTrue(!server.command("INFO", "keyspace").toString().contains("keys="));
            }
        }
    }

    @Test
    void aWaiterThatAcquiresWhatTheTestReleasedLastIsALeak() throws IOException {
        try (Connection waiter = Clients.connect(server)) {
            LeakCheck check = LeakCheck.begin(server, leak -> {
                if (leak.owner().isEmpty()) { // after the first look
                    acquire("order:1");
                }
                return true;
            });
            waiter.call("SUBSCRIBE", "redisson_lock__channel:{order:1}");
            String text = check.end(true);
            assertTrue(text != null && text.contains("lock \"order:1\" is held by " + OWNER), text);
        }
    }

    @Test
    void aWaiterOfALockWithoutAKeyIsWoken() throws IOException {
        String channel = "redisson_lock__channel:{order:1}";
        try (Connection before = Clients.connect(server)) {
            before.call("SUBSCRIBE", channel);
            LeakCheck check = LeakCheck.begin(server);
            assertNull(check.end(true));
            assertEquals(Arrays.asList("pong", ""), before.call("PING"));
            try (Connection waiter = Clients.connect(server)) {
                waiter.call("SUBSCRIBE", channel);
                assertNull(check.end(false));
                assertEquals(Arrays.asList("pong", ""), waiter.call("PING"));
                assertNull(LeakCheck.begin(server, leak -> !leak.owner().isEmpty()).end(true));
                assertEquals(Arrays.asList("pong", ""), waiter.call("PING"));
                assertNull(check.end(true));
                assertEquals(Arrays.asList("message", channel, "0"), waiter.call("PING"));
            }
        }
    }

    @Test
    void aWaiterOfASemaphoreIsEndedAlsoWithoutALeak() throws IOException {
        server.command("CONFIG", "SET", "notify-keyspace-events", "KEA");
        server.command("SET", "order", "1");
        server.command("SET", "two", "1"); // a waiter for two permits finds one
        for (String name : new String[] {"missing", "two"}) {
            String channel = "redisson_sc:{" + name + "}";
            String events = "__keyspace@0__:" + name;
            try (Connection waiter = Clients.connect(server)) {
                waiter.call("SUBSCRIBE", events);
                LeakCheck check = LeakCheck.begin(server);
                waiter.call("SUBSCRIBE", channel);
                assertNull(check.end(false));
                assertNull(LeakCheck.begin(server).end(true)); // the waiter was there before
                assertEquals(Arrays.asList("pong", ""), waiter.call("PING"));
                assertNull(check.end(true));
                if (name.equals("two")) {
                    assertEquals(Arrays.asList("message", events, "del"), waiter.call("PING"));
                }
                assertEquals(Arrays.asList("message", events, "rpush"), waiter.call("PING"));
                assertEquals(Arrays.asList("message", channel, "1000"), waiter.call("PING"));
                assertEquals(Arrays.asList("order"), server.command("KEYS", name.equals("two") ? "*" : "o*"));
            }
        }
    }

    @Test
    void anOlderWaiterOfASemaphoreIsNotEndedBesideANewOne() throws IOException {
        try (Connection older = Clients.connect(server); Connection newer = Clients.connect(server)) {
            older.call("SUBSCRIBE", "redisson_sc:{missing}");
            LeakCheck check = LeakCheck.begin(server);
            newer.call("SUBSCRIBE", "redisson_sc:{missing}");
            assertNull(check.end(true));
            assertEquals(Arrays.asList("pong", ""), older.call("PING"));
        }
    }

    @Test
    void aTestWithoutNewSubscriptionsCostsOneCommand() throws IOException {
        try (Connection client = Clients.connect(server)) {
            client.call("SUBSCRIBE", "redisson_sc:{workers}");
            client.call("SUBSCRIBE", "redisson_lock__channel:{order:1}");
            LeakCheck check = LeakCheck.begin(server);
            server.command("CONFIG", "RESETSTAT");
            assertNull(check.end(true));
            String commands = server.command("INFO", "commandstats").toString();
            String line = "cmdstat_(lock.leaks:calls=1,|config.resetstat:)[^\n]*\n";
            assertTrue(commands.matches("# Commandstats\\s+" + line + line), commands);
        }
    }

    @Test
    void aSubscriptionWithoutAWaiterIsNoLeakOfALaterTest() throws IOException {
        try (Connection client = Clients.connect(server)) {
            client.call("SUBSCRIBE", "redisson_sc:{workers}");
            client.call("SUBSCRIBE", "redisson_lock__channel:{order:1}");
            LeakCheck check = LeakCheck.begin(server);
            server.command("SET", "workers", "0");
            assertNull(check.end(false));
            acquire("order:1");
            assertTrue(check.end(false).startsWith("a leak on "));
        }
    }

    @Test
    void waitersOfALatchGoOn() throws IOException {
        LeakCheck check = LeakCheck.begin(server);
        try (Connection waiter = Clients.connect(server)) {
            String channel = "redisson_countdownlatch__channel__{orders}";
            waiter.call("SUBSCRIBE", channel);
            assertNull(check.end(true));
            acquire("order:1");
            assertTrue(check.end(true).startsWith("a leak on "));
            assertEquals(Arrays.asList("message", channel, "0"), waiter.call("PING"));
        }
    }

    @Test
    void aLockThatIsReleasedLateIsNoLeak() {
        LeakCheck check = LeakCheck.begin(server, leak -> {
            server.command("DEL", leak.name());
            return true;
        });
        acquire("order:1");
        assertNull(check.end(false));
    }

    @Test
    void aLockWhoseLeaseEndsWithinASecondIsNoLeak() {
        LeakCheck check = LeakCheck.begin(server);
        acquire("order:1");
        server.command("PEXPIRE", "order:1", "500");
        assertNull(check.end(false));
        acquire("order:2");
        server.command("PEXPIRE", "order:2", "60000");
        String text = check.end(false);
        assertTrue(text.startsWith("a leak on ") && text.contains("lock \"order:2\" is held by "), text);
    }

    @Test
    void aThreadThatLocksInALoopIsFoundThoughNoLookSeesItsLock() throws Exception {
        AtomicInteger turns = new AtomicInteger();
        Thread loop = loop(turns);
        try {
            LeakCheck check = LeakCheck.begin(server);
            loop.start();
            Await.until("the thread loops", () -> turns.get() > 0);
            AtomicReference<String> text = new AtomicReference<>();
            Await.until("the loop is found", () -> { // a slow thread may lock after the check
                text.set(check.end(false));
                return text.get() != null;
            });
            assertTrue(text.get().startsWith("a leak on ") && text.get().contains("lock \"order:1\" was acquired by "
                    + CLIENT + loop.getId()) && text.get().endsWith(" (also half a second after the test, or later)"), text.get());
            assertNull(LeakCheck.begin(server).end(false)); // it runs beside the tests now
        } finally {
            loop.interrupt();
            loop.join();
        }
    }

    @Test
    void aThreadThatLockedInALoopBeforeTheTestIsNotTheTests() throws Exception {
        AtomicInteger turns = new AtomicInteger();
        Thread loop = loop(turns);
        loop.start();
        try (Connection client = Clients.connect(server)) {
            Await.until("the thread loops", () -> turns.get() > 0);
            LeakCheck check = LeakCheck.begin(server);
            client.call("SUBSCRIBE", "redisson_lock__channel:{order:2}"); // so the check looks for a while
            assertNull(check.end(false));
        } finally {
            loop.interrupt();
            loop.join();
        }
    }

    @Test
    void aThreadThatLockedInTheTestAndLocksNoMoreIsNoLoop() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            acquireAndRelease("order:1", CLIENT + Thread.currentThread().getId());
            released.countDown();
            while (end.getCount() > 0) {
                Thread.yield();
            }
        });
        LeakCheck check = LeakCheck.begin(server, leak -> {
            end.countDown(); // the thread ends while the check looks
            return true;
        });
        thread.start();
        released.await();
        assertNull(check.end(false));
        thread.join();
    }

    @Test
    void aTaskThatLocksSinceBeforeTheTestIsNotTheTests() throws Exception {
        ScheduledExecutorService scheduler = ended(Executors.newSingleThreadScheduledExecutor());
        AtomicInteger turns = new AtomicInteger();
        scheduler.scheduleWithFixedDelay(() -> {
            acquire("order:1", CLIENT + Thread.currentThread().getId());
            server.command("DEL", "order:1");
            turns.incrementAndGet();
        }, 0, 10, TimeUnit.MILLISECONDS);
        Await.until("the task runs", () -> turns.get() > 2);
        for (int i = 0; i < 10; i++) {
            assertNull(LeakCheck.begin(server).end(false));
        }
    }

    @Test
    void aThreadThatWasAtWorkBeforeTheTestIsNotTheTestsThoughItsFirstLockIs() throws Exception {
        AtomicBoolean locks = new AtomicBoolean();
        AtomicInteger turns = new AtomicInteger();
        Thread thread = new Thread(() -> {
            while (!Thread.interrupted()) {
                turns.incrementAndGet();
                if (locks.get()) {
                    acquireAndRelease("order:1", CLIENT + Thread.currentThread().getId());
                }
            }
        });
        thread.start();
        try {
            Await.until("the thread runs", () -> turns.get() > 0);
            assertNoLoop(locks, () -> times("order:1") > 1);
        } finally {
            thread.interrupt();
            thread.join();
        }
    }

    @Test
    void theThreadsOfASchedulerAreNotTheTestsThoughTheyBeginInIt() throws Exception {
        ScheduledThreadPoolExecutor scheduler = ended(new ScheduledThreadPoolExecutor(1));
        AtomicBoolean locks = new AtomicBoolean();
        Set<Long> threads = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 2; i++) {
            String name = "order:" + i;
            scheduler.scheduleWithFixedDelay(() -> {
                if (locks.get()) {
                    threads.add(Thread.currentThread().getId());
                    acquireAndRelease(name, CLIENT + Thread.currentThread().getId());
                }
            }, 0, 1, TimeUnit.MILLISECONDS);
        }
        assertNoLoop(locks, () -> {
            scheduler.setCorePoolSize(2);
            return threads.size() == 2;
        });
    }

    @Test
    void aLateLockOfAThreadThatWasAtWorkBeforeTheTestIsNotTheTests() throws Exception {
        ExecutorService thread = ended(Executors.newSingleThreadExecutor());
        String owner = CLIENT + thread.submit(() -> Thread.currentThread().getId()).get();
        CountDownLatch end = keepBusy(thread);
        LeakCheck check = LeakCheck.begin(server);
        assertNull(check.end(true));
        acquire("order:1", owner);
        assertNull(check.endAgain(true));
        end.countDown();
    }

    @Test
    void aThreadThatLocksByOtherNamesInALoopIsFound() throws Exception {
        AtomicInteger turns = new AtomicInteger();
        Thread loop = new Thread(() -> {
            while (!Thread.interrupted()) {
                acquireAndRelease("order:" + turns.incrementAndGet(), CLIENT + Thread.currentThread().getId());
            }
        });
        try {
            LeakCheck check = LeakCheck.begin(server);
            loop.start();
            Await.until("the thread loops", () -> turns.get() > 1);
            Await.until("the loop is found", () -> check.end(false) != null); // a slow thread may lock after the check
        } finally {
            loop.interrupt();
            loop.join();
        }
    }

    @Test
    void theTasksOfAnExecutorMayWaitForTheirTurns() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        CountDownLatch acquired = new CountDownLatch(1);
        Thread tasks = new Thread(() -> {
            String owner = CLIENT + Thread.currentThread().getId();
            acquireAndRelease("order:1", owner);
            acquired.countDown();
            try {
                ended.await(1, TimeUnit.HOURS);
            } catch (InterruptedException e) {
                return; // the test ends
            }
            for (int i = 0; i < 5; i++) {
                acquireAndRelease("order:1", owner);
            }
        });
        AtomicInteger looks = new AtomicInteger();
        LeakCheck check = LeakCheck.begin(server, leak -> {
            looks.incrementAndGet();
            ended.countDown(); // the check sees that the thread is active
            while (tasks.isAlive()) {
                Thread.yield();
            }
            return true;
        });
        tasks.start();
        acquired.await();
        Await.until("the thread waits", () -> tasks.getState() == Thread.State.TIMED_WAITING);
        assertNull(check.end(false));
        assertEquals(1, looks.get());
    }

    @Test
    void anOwnerMayGetItsOnlyLockLate() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch acquired = new CountDownLatch(1);
        Thread active = new Thread(() -> {
            acquireAndRelease("order:1", CLIENT + Thread.currentThread().getId());
            acquired.countDown();
            while (end.getCount() > 0) {
                Thread.yield();
            }
        });
        AtomicReference<Long> ended = new AtomicReference<>();
        AtomicBoolean late = new AtomicBoolean();
        LeakCheck check = LeakCheck.begin(server, leak -> {
            ended.compareAndSet(null, System.nanoTime());
            if (System.nanoTime() - ended.get() > TimeUnit.MILLISECONDS.toNanos(700) && !late.getAndSet(true)) {
                acquireAndRelease("order:1", CLIENT + Long.MAX_VALUE / 11);
            }
            return true;
        });
        active.start(); // so the check looks for a second
        acquired.await();
        assertNull(check.end(false));
        end.countDown();
        active.join();
    }

    @Test
    void tasksMayLockInALoop() throws Exception {
        AtomicInteger turns = new AtomicInteger();
        Thread loop = loop(turns);
        LeakCheck check = LeakCheck.begin(server).allowTasks();
        loop.start();
        try (Connection client = Clients.connect(server)) {
            Await.until("the thread loops", () -> turns.get() > 2);
            client.call("SUBSCRIBE", "redisson_lock__channel:{other}"); // so the check looks for a while
            assertNull(check.end(false));
        } finally {
            loop.interrupt();
            loop.join();
        }
    }

    @Test
    void theTurnsOfATaskAreNoLeakThoughEachLookSeesOne() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        ExecutorService thread = ended(Executors.newSingleThreadExecutor());
        String owner = CLIENT + thread.submit(() -> Thread.currentThread().getId()).get();
        CountDownLatch end = keepBusy(thread);
        LeakCheck check = LeakCheck.begin(server, leak -> {
            looks.incrementAndGet();
            server.command("DEL", "tick");
            acquire("tick", owner);
            return true;
        });
        acquire("tick", owner);
        assertNull(check.end(false));
        assertTrue(looks.get() < 5, () -> looks + " looks");
        end.countDown();
    }

    /** Asserts that a test passes in which a thread begins to lock in a loop. */
    private void assertNoLoop(AtomicBoolean locks, Callable<Boolean> loops) throws Exception {
        LeakCheck check = LeakCheck.begin(server);
        locks.set(true);
        Await.until("the thread loops", loops);
        try (Connection client = Clients.connect(server)) {
            client.call("SUBSCRIBE", "redisson_lock__channel:{other}"); // so the check looks for a while
            assertNull(check.end(false));
        }
    }

    /** Returns how often owners have acquired a lock. */
    private long times(String name) {
        return server.allLeaks().stream().filter(row -> row.isHistory() && row.name().equals(name))
                .mapToLong(Leak::times).sum();
    }

    @Test
    void anotherThreadMayGetTheLockWhenItIsReleased() throws Exception {
        String first = CLIENT + Long.MAX_VALUE / 11;
        ScheduledExecutorService thread = ended(Executors.newSingleThreadScheduledExecutor());
        LeakCheck check = LeakCheck.begin(server, leak -> {
            server.command("DEL", leak.name());
            if (leak.owner().equals(first)) {
                thread.schedule(() -> acquire("order:1"), 15, TimeUnit.MILLISECONDS);
            }
            return true;
        });
        acquire("order:1", first);
        assertNull(check.end(false));
    }

    @Test
    void anotherThreadThatKeepsTheLockIsALeak() throws Exception {
        String first = CLIENT + Long.MAX_VALUE / 11;
        ScheduledExecutorService thread = ended(Executors.newSingleThreadScheduledExecutor());
        LeakCheck check = LeakCheck.begin(server, leak -> {
            if (leak.owner().equals(first)) {
                server.command("DEL", leak.name());
                thread.schedule(() -> acquire("order:2"), 15, TimeUnit.MILLISECONDS);
            }
            return true;
        });
        acquire("order:1", first);
        String text = check.end(false);
        if (text == null) { // a slow thread acquires behind the check
            Await.until("the lock is held", () -> !server.locks().isEmpty());
            text = check.endAgain(false);
        }
        assertTrue(text != null && text.contains("lock \"order:2\" is held by " + OWNER), text);
    }

    @Test
    void aClientThatContendsWithATaskForItsLockIsNoLeak() throws Exception {
        ExecutorService thread = ended(Executors.newSingleThreadExecutor());
        try (Connection client = Clients.connect(server)) {
            String owner = CLIENT + thread.submit(() -> Thread.currentThread().getId()).get();
            CountDownLatch end = keepBusy(thread);
            acquire("job", owner);
            LeakCheck check = LeakCheck.begin(server);
            client.call("SUBSCRIBE", "redisson_lock__channel:{job}");
            assertNull(check.end(false));
            check = LeakCheck.begin(server);
            client.call("SUBSCRIBE", "redisson_lock__channel:{order}");
            acquire("order");
            String text = check.end(false);
            assertTrue(text.contains("redisson_lock__channel:{order}") && !text.contains("{job}"), text);
            end.countDown();
        }
    }

    /** Returns a thread that acquires and releases a lock until it is interrupted, and counts. */
    private Thread loop(AtomicInteger turns) {
        return new Thread(() -> {
            while (!Thread.interrupted()) {
                acquireAndRelease("order:1", CLIENT + Thread.currentThread().getId());
                turns.incrementAndGet();
            }
        });
    }

    /** Acquires and releases a lock at once: no look finds it held. */
    private void acquireAndRelease(String name, String owner) {
        server.command("EVAL", "redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('del', KEYS[1])",
                "1", name, owner);
    }

    @Test
    void aThreadOfTheApplicationThatWaitsInAQueueIsToldEachTime() throws Exception {
        BlockingQueue<Runnable> jobs = new LinkedBlockingQueue<>();
        Thread worker = new Thread(() -> {
            try {
                while (true) {
                    jobs.take().run();
                }
            } catch (InterruptedException e) {
                // the test ends
            }
        });
        worker.start();
        try {
            Await.until("the worker waits", () -> worker.getState() == Thread.State.WAITING);
            for (int i = 0; i < 2; i++) {
                LeakCheck check = LeakCheck.begin(server);
                acquire("order:1", CLIENT + worker.getId());
                String text = check.end(true);
                assertTrue(text != null && text.contains("order:1"), text);
            }
        } finally {
            worker.interrupt();
            worker.join();
        }
    }

    /** Runs a task in a thread, which the task makes busy until the end of the test. */
    private static CountDownLatch keepBusy(ExecutorService thread) throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        thread.submit(() -> {
            running.countDown();
            end.await(1, TimeUnit.HOURS); // one that waits for no time is not at work
            return null;
        });
        running.await();
        return end;
    }

    @Test
    void aLockOfAThreadThatIsStillActiveIsToldOnce() throws Exception {
        ExecutorService thread = ended(Executors.newSingleThreadExecutor());
        String owner = CLIENT + thread.submit(() -> Thread.currentThread().getId()).get();
        CountDownLatch end = keepBusy(thread);
        LeakCheck check = LeakCheck.begin(server);
        acquire("order:1", owner);
        assertTrue(check.end(true).contains(owner));
        check = LeakCheck.begin(server);
        acquire("order:1", owner);
        assertNull(check.end(true));
        acquire("order:2", owner);
        String text = check.end(true);
        assertTrue(text.startsWith("a leak on ") && text.contains("order:2"), text);
        end.countDown();
    }

    @Test
    void theNextTaskOfAThreadIsToldAgain() throws Exception {
        ExecutorService thread = ended(Executors.newSingleThreadExecutor());
        String owner = CLIENT + thread.submit(() -> Thread.currentThread().getId()).get();
        CountDownLatch end = keepBusy(thread);
        LeakCheck check = LeakCheck.begin(server);
        acquire("order:1", owner);
        assertTrue(check.end(true).contains("order:1"));
        end.countDown();
        thread.submit(() -> { }).get();
        check = LeakCheck.begin(server); // the thread waits for a task now
        end = keepBusy(thread);
        acquire("order:1", owner);
        assertTrue(check.end(true).contains("order:1"));
        check = LeakCheck.begin(server);
        end.countDown();
        thread.submit(() -> acquire("order:1", owner)).get();
        assertTrue(check.end(true).contains("order:1"));
    }

    @Test
    void aThreadThatWaitsForItsNextTaskIsToldEachTime() throws Exception {
        ExecutorService pool = ended(Executors.newSingleThreadExecutor());
        long idle = pool.submit(() -> Thread.currentThread().getId()).get();
        for (long thread : new long[] {idle, Thread.currentThread().getId()}) {
            String owner = CLIENT + thread;
            for (int i = 0; i < 2; i++) {
                LeakCheck check = LeakCheck.begin(server);
                acquire("order:1", owner);
                assertTrue(check.end(true).contains(owner));
            }
        }
    }

    @Test
    void anInterruptedThreadWaitsForTheRelease() {
        AtomicInteger looks = new AtomicInteger();
        LeakCheck check = LeakCheck.begin(server, leak -> {
            if (looks.incrementAndGet() == 3) {
                server.command("DEL", leak.name());
            }
            return true;
        });
        acquire("order:1");
        Thread.currentThread().interrupt();
        assertNull(check.end(false));
        assertTrue(Thread.currentThread().isInterrupted());
        server.stop();
        LeakCheck.prepare(server, true);
        assertTrue(Thread.interrupted());
        assertTrue(server.isRunning());
    }

    @Test
    void aTestMayBeginWithAnOutage() {
        server.stop();
        LeakCheck check = LeakCheck.begin(server);
        server.restart();
        assertNull(check.end(false));
    }

    @Test
    void nothingThatATestDoesToClientsKeepsTheCheckOut() {
        EndWatch watch = new EndWatch(server);
        for (String line : new String[] {"CONFIG SET requirepass secret", "ACL SETUSER default off",
            "CONFIG SET maxclients 1", "CONFIG SET maxmemory 1", "CLIENT PAUSE 3600000 ALL",
            "CLIENT PAUSE 3600000 WRITE"}) {
            watch.begin(line);
            LeakCheck check = LeakCheck.begin(server);
            acquire("order:1");
            server.command(line.split(" "));
            String text = check.end(true);
            assertTrue(text != null && text.contains("lock \"order:1\" is held by"), line + ": " + text);
            assertNull(watch.end(line, line));
            LeakCheck.prepare(server, true);
            assertEquals("OK", server.command("SET", "key", "value"), line);
        }
    }

    @Test
    void aServerWithAnEndlessScriptIsReplaced() throws Exception {
        LeakCheck check = LeakCheck.begin(server);
        server.command("CONFIG", "SET", "lua-time-limit", "1");
        try (Socket client = new Socket(server.host(), server.port())) {
            client.getOutputStream().write("EVAL 'while true do end' 0\r\n".getBytes(US_ASCII));
            Await.until("the script runs", () -> {
                try {
                    server.command("PING");
                    return false;
                } catch (LockredisException e) {
                    return e.getMessage().contains("BUSY");
                }
            });
            assertNull(check.end(true));
            String text = server.unexpectedEnd();
            assertTrue(text.contains("BUSY") && text.contains("NOSAVE. The next test"), text);
        }
        LeakCheck.prepare(server, true);
        assertEquals("PONG", server.command("PING"));
        assertNull(server.unexpectedEnd());
    }

    @Test
    void anEndJustBeforeATestDoesNotFailItsStart() throws Exception {
        for (int i = 0; i < 10; i++) {
            try (Connection client = Clients.connect(server)) {
                client.call("SHUTDOWN");
            } catch (IOException e) {
                // the process ends soon
            }
            LeakCheck.prepare(server, i % 2 == 0);
            assertEquals("PONG", server.command("PING"));
            assertTrue(server.unexpectedEnd().contains(" ended by itself with exit code 0"));
        }
    }
}
