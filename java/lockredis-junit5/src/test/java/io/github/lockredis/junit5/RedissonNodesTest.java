package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RTopic;
import org.redisson.api.RTransaction;
import org.redisson.api.RedissonClient;
import org.redisson.api.TransactionOptions;
import org.redisson.api.annotation.REntity;
import org.redisson.api.annotation.RId;
import org.redisson.api.annotation.RIndex;
import org.redisson.client.RedisException;
import org.redisson.config.Config;
import org.redisson.transaction.TransactionException;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;

/** Redisson on topologies with several nodes. */
class RedissonNodesTest {
    /** Names of locks on the first, the second and the third node of a cluster. */
    private static final String[] NAMES = {"b", "c", "a"};

    private static Config single(LockredisServer server) {
        Config config = new Config();
        config.useSingleServer().setAddress(server.redissonAddress()).setTimeout(1000).setRetryAttempts(1);
        return config;
    }

    /** Deletes and fills maps of several slots of one node in a transaction. */
    private static void replaceMaps(RedissonClient redisson) {
        RTransaction transaction = redisson.createTransaction(TransactionOptions.defaults());
        for (String name : new String[] {"b", "f"}) {
            transaction.getMap(name).delete();
            transaction.getMap(name).putAll(Collections.singletonMap("1", "v"));
        }
        transaction.commit();
    }

    /**
     * Asserts that a transaction is refused because of its slots. It deletes the locks that the transaction leaves
     * behind: they would be leaks of the test.
     */
    private static void assertNoTransaction(RedissonClient redisson, List<LockredisServer> servers) {
        assertTrue(assertThrows(TransactionException.class, () -> replaceMaps(redisson)).getCause().getMessage()
                .contains("CROSSSLOT"));
        servers.forEach(LockredisServer::flush);
    }

    /** An object with an index: its fields and the index are in several slots. */
    @REntity
    public static class Order {
        @RId
        private String id;
        @RIndex
        private String customer;

        protected Order() {
        }

        Order(String id, String customer) {
            this.id = id;
            this.customer = customer;
        }

        public String getId() {
            return id;
        }

        public String getCustomer() {
            return customer;
        }

        public void setCustomer(String customer) {
            this.customer = customer;
        }
    }

    private static void changeLiveObject(RedissonClient redisson) {
        redisson.getLiveObjectService().persist(new Order("42", "Ann"));
        redisson.getLiveObjectService().get(Order.class, "42").setCustomer("Bob");
        assertEquals("Bob", redisson.getLiveObjectService().get(Order.class, "42").getCustomer());
    }

    private static boolean tryLockElsewhere(RLock lock) {
        return CompletableFuture.supplyAsync(lock::tryLock).join();
    }

    @Nested
    @Lockredis(topology = Topology.CLUSTER, nodes = 3)
    class OnACluster extends Cluster {
        @Test
        void locksOfAllKindsWorkOnEveryNode() {
            for (int i = 0; i < 3; i++) {
                RReadWriteLock both = redisson.getReadWriteLock(NAMES[i]);
                RLock[] locks = {redisson.getLock(NAMES[i]), redisson.getFairLock(NAMES[i]), both.writeLock(),
                    redisson.getSpinLock(NAMES[i])};
                for (RLock lock : locks) {
                    lock.lock();
                    for (int other = 0; other < 3; other++) {
                        assertEquals(other == i ? 1 : 0, topology.node(other).locks().size());
                    }
                    assertFalse(tryLockElsewhere(lock));
                    lock.unlock();
                }
                both.readLock().lock();
                assertFalse(tryLockElsewhere(both.writeLock()));
                both.readLock().unlock();
            }
        }

        @Test
        void aReleaseWakesTheWaiterOnEveryNode() {
            for (int i = 0; i < 3; i++) {
                for (RLock lock : new RLock[] {redisson.getLock(NAMES[i]), redisson.getFairLock(NAMES[i])}) {
                    lock.lock();
                    CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> {
                        lock.lock();
                        lock.unlock();
                    });
                    topology.node(i).awaitWaiters(NAMES[i], 1);
                    lock.unlock();
                    waiter.join();
                }
            }
        }

        @Test
        void aTurnedClockEndsTheLeaseAndWakesTheWaiter() {
            RLock lock = redisson.getLock("a");
            lock.lock(1, TimeUnit.HOURS);
            CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> {
                lock.lock();
                lock.unlock();
            });
            topology.node(2).awaitWaiters("a", 1);
            assertEquals("[a]", topology.node(2).clock().advance(Duration.ofHours(1)).ended().toString());
            waiter.join();
        }

        @Test
        void aMultiLockSpansNodes() {
            RLock multi = redisson.getMultiLock(redisson.getLock("a"), redisson.getLock("b"), redisson.getLock("c"));
            multi.lock();
            for (LockredisServer node : topology.servers()) {
                assertEquals(1, node.locks().size());
            }
            multi.unlock();
        }

        @Test
        void aTopicHasItsMessages() throws InterruptedException {
            RTopic topic = redisson.getTopic("news");
            BlockingQueue<String> got = new LinkedBlockingQueue<>();
            int listener = topic.addListener(String.class, (channel, message) -> got.add(message));
            topic.publish("hello");
            assertEquals("hello", got.take());
            topic.removeListener(listener);
        }

        @Test
        void aBatchReachesAllNodes() {
            RBatch batch = redisson.createBatch();
            for (String name : NAMES) {
                batch.getBucket(name).setAsync("v");
            }
            batch.execute();
            for (LockredisServer node : topology.servers()) {
                assertEquals(1L, node.command("DBSIZE"));
            }
        }

        /** redisson#3903: an atomic batch with keys of several slots, here of one node. */
        @Test
        void anAtomicBatchOfSeveralSlotsIsRefused() {
            RBatch batch = redisson.createBatch(BatchOptions.defaults()
                    .executionMode(BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC));
            batch.getBucket("b").setAsync("v");
            batch.getBucket("f").setAsync("v");
            assertTrue(assertThrows(RedisException.class, batch::execute).getMessage().contains("CROSSSLOT"));
        }

        /** redisson#1098: a lock's channel must have the tag that the lock's name has. */
        @Test
        void aNameWithATagIsOneSlot() {
            for (RReadWriteLock both : new RReadWriteLock[] {redisson.getReadWriteLock("{Test}:1:key"),
                redisson.getMap("{Test}").getReadWriteLock("key"), redisson.getMap("Test").getReadWriteLock("key")}) {
                both.readLock().lock();
                both.readLock().unlock();
                both.writeLock().lock();
                both.writeLock().unlock();
            }
        }

        /** redisson#2240: the client sends an MGET for each slot. {@link OnAProxy} refuses a single one. */
        @Test
        void bucketsOfSeveralSlotsAreRead() {
            for (String name : NAMES) {
                redisson.getBucket(name).set(name);
            }
            assertEquals(3, redisson.getBuckets().get(NAMES).size());
        }

        /** redisson#4927: a transaction is one EXEC for each node. */
        @Test
        void aTransactionOfSeveralSlotsIsRefused() {
            assertNoTransaction(redisson, topology.servers());
        }

        /** redisson#5449: a cluster client changes an object and its index apart. The client stays subscribed. */
        @Test
        void aLiveObjectHasAnIndex() {
            RedissonClient own = Clients.cluster(topology);
            try {
                changeLiveObject(own);
            } finally {
                own.shutdown(0, 1, TimeUnit.SECONDS);
            }
        }
    }

    /** A client of a cluster. */
    abstract static class Cluster {
        static RedissonClient redisson;
        @Lockredis
        LockredisTopology topology;

        @BeforeAll
        static void connect(LockredisTopology topology) {
            redisson = Clients.cluster(topology);
        }

        @AfterAll
        static void disconnect() {
            redisson.shutdown();
        }
    }

    @Test
    void aLockThatIsLeftOnAnyNodeFailsItsTest() {
        Run run = Run.of(Leaking.class);
        assertTrue(run.failures().toString().contains("lock \"a\" is held by"), run.failures().toString());
    }

    @Lockredis(topology = Topology.CLUSTER, nodes = 3)
    static class Leaking extends Cluster {
        @Test
        void test() {
            redisson.getLock("a").lock();
        }
    }

    @Nested
    @Lockredis(topology = Topology.PRIMARIES)
    class OnPrimaries {
        private final List<RedissonClient> clients = new ArrayList<>();
        private final List<RLock> locks = new ArrayList<>();

        @BeforeEach
        void connect(LockredisTopology topology) {
            for (LockredisServer server : topology.servers()) {
                clients.add(Redisson.create(single(server)));
                locks.add(clients.get(clients.size() - 1).getLock("order:42"));
            }
        }

        @AfterEach
        void disconnect() {
            clients.forEach(client -> client.shutdown(0, 1, TimeUnit.SECONDS));
        }

        private RLock[] locks() {
            return locks.toArray(new RLock[0]);
        }

        @Test
        @SuppressWarnings("deprecation") // applications have it
        void aRedLockNeedsTheMajority(LockredisTopology topology) {
            topology.node(1).stop();
            RLock lock = new org.redisson.RedissonRedLock(locks());
            lock.lock();
            assertEquals(1, topology.node(0).locks().size());
            assertEquals(1, topology.node(2).locks().size());
            lock.unlock();
        }

        @Test
        void aMultiLockNeedsAllServers(LockredisTopology topology) {
            RLock lock = new RedissonMultiLock(locks());
            lock.lock();
            for (LockredisServer server : topology.servers()) {
                assertEquals(1, server.locks().size());
            }
            lock.unlock();
            topology.node(2).stop();
            assertFalse(lock.tryLock());
        }
    }

    @Nested
    @Lockredis(topology = Topology.PROXY)
    class OnAProxy {
        private RedissonClient redisson;

        @BeforeEach
        void connect(LockredisServer server) {
            Config config = single(server);
            config.setLockWatchdogTimeout(1500);
            redisson = Redisson.create(config);
        }

        @AfterEach
        void disconnect() {
            redisson.shutdown();
        }

        /** redisson#2240: MGET of keys of several slots. */
        @Test
        void keysOfSeveralSlotsAreRefused() {
            assertTrue(assertThrows(RedisException.class, () -> redisson.getBuckets().get("a", "b")).getMessage()
                    .contains("CROSSSLOT"));
        }

        /** redisson#4927: with a map alone, too, since Redisson 4. */
        @Test
        void aTransactionOfSeveralSlotsIsRefused(LockredisServer server) {
            assertNoTransaction(redisson, Collections.singletonList(server));
        }

        /** redisson#5449: a script changes an object and its index. */
        @Test
        void aLiveObjectWithAnIndexIsRefused() {
            assertTrue(assertThrows(RuntimeException.class,
                    () -> redisson.getLiveObjectService().persist(new Order("42", "Ann"))).toString()
                    .contains("CROSSSLOT"));
        }

        /**
         * redisson#6867: since 3.44 the watchdog renews all locks by one script, unless it sees a cluster.
         * redisson#6303 asked for that. redisson#7116: Redisson 4 sees the cluster behind a proxy, and puts all
         * locks into slot 0: it is still one script.
         */
        @Test
        void theWatchdogLosesLocksOfSeveralSlots(LockredisServer server) {
            RLock one = redisson.getLock("a");
            RLock two = redisson.getLock("b");
            one.lock();
            two.lock();
            server.awaitFree("a");
            server.awaitFree("b");
            assertTrue(server.command("INFO", "errorstats").toString().contains("errorstat_CROSSSLOT"));
            assertThrows(IllegalMonitorStateException.class, one::unlock);
            assertThrows(IllegalMonitorStateException.class, two::unlock);
        }
    }

    /** What {@link OnAProxy} refuses. */
    @Nested
    @Lockredis
    class OnASingleServer {
        @Test
        void keysOfSeveralSlotsGoUnnoticed(LockredisServer server) {
            RedissonClient redisson = Clients.redisson(server);
            try {
                redisson.getBucket("a").set("v");
                redisson.getBucket("b").set("v");
                assertEquals(2, redisson.getBuckets().get("a", "b").size());
                redisson.getBucket("b").delete();
                replaceMaps(redisson);
                assertEquals("v", redisson.getMap("f").get("1"));
                changeLiveObject(redisson);
            } finally {
                redisson.shutdown(0, 1, TimeUnit.SECONDS);
            }
        }
    }
}
