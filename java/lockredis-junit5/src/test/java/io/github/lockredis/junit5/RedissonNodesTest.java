package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
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
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

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

        /** redisson#6867: since 3.44 the watchdog renews all locks by one script, unless it sees a cluster. */
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
}
