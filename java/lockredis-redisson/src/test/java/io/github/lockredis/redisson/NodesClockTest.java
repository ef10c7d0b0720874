package io.github.lockredis.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;

/** Clients of several nodes that are joined to the clock of all of them. */
class NodesClockTest {
    /** Names of locks on the first, the second and the third node of a cluster. */
    private static final String[] NAMES = {"b", "c", "a"};

    @Nested
    @Lockredis(topology = Topology.CLUSTER, nodes = 3)
    class OnACluster {
        @Test
        void aWatchdogRenewsOnEveryNode(LockredisTopology topology) {
            RedissonClient redisson = cluster(topology);
            try (RedissonClock clock = RedissonClock.join(topology, redisson)) {
                for (String name : NAMES) {
                    redisson.getLock(name).lock();
                }
                assertEquals(Collections.emptyList(), clock.advance(Duration.ofMinutes(5)).ended());
                for (String name : NAMES) {
                    assertTrue(redisson.getLock(name).isHeldByCurrentThread(), name);
                    redisson.getLock(name).unlock();
                }
            } finally {
                redisson.shutdown();
            }
        }

        @Test
        void aWaiterOnEachNodeAcquiresTheLockOnItsWay(LockredisTopology topology) throws Exception {
            RedissonClient redisson = cluster(topology);
            try (RedissonClock clock = RedissonClock.join(topology, redisson)) {
                List<CompletableFuture<Void>> waiters = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    RLock lock = redisson.getLock(NAMES[i]);
                    lock.lock(10 + i, TimeUnit.SECONDS);
                    CompletableFuture<Void> done = new CompletableFuture<>();
                    new Thread(() -> {
                        lock.lock(1, TimeUnit.HOURS);
                        done.complete(null);
                    }).start();
                    waiters.add(done);
                    topology.node(i).awaitWaiters(NAMES[i], 1);
                }
                assertEquals(Arrays.asList(NAMES), clock.advance(Duration.ofMinutes(59)).ended());
                for (int i = 0; i < 3; i++) {
                    waiters.get(i).get(30, TimeUnit.SECONDS);
                    assertFalse(redisson.getLock(NAMES[i]).isHeldByCurrentThread());
                    assertTrue(redisson.getLock(NAMES[i]).isLocked());
                }
                assertEquals(Arrays.asList(NAMES), clock.advance(Duration.ofMinutes(2)).ended());
            } finally {
                redisson.shutdown();
            }
        }

        @Test
        void aStoppedNodeDoesNotHoldTheOthersUp(LockredisTopology topology) {
            RedissonClient redisson = cluster(topology);
            try (RedissonClock clock = RedissonClock.join(topology, redisson)) {
                redisson.getLock(NAMES[1]).lock(1, TimeUnit.MINUTES);
                topology.node(2).stop();
                assertEquals(Arrays.asList(NAMES[1]), clock.advance(Duration.ofHours(1)).ended());
            } finally {
                redisson.shutdown();
            }
        }
    }

    @Nested
    @Lockredis(topology = Topology.PRIMARIES)
    class OnPrimaries {
        @Test
        void aMultiLockOfThreeClientsIsRenewed(LockredisTopology topology) {
            List<RedissonClient> clients = new ArrayList<>();
            for (LockredisServer server : topology.servers()) {
                clients.add(Clients.redisson(server));
            }
            try (RedissonClock clock = RedissonClock.join(topology, clients.toArray(new RedissonClient[0]))) {
                RLock lock = new RedissonMultiLock(clients.stream().map(client -> client.getLock("order"))
                        .toArray(RLock[]::new));
                lock.lock();
                assertEquals(Collections.emptyList(), clock.advance(Duration.ofMinutes(5)).ended());
                topology.servers().forEach(server -> assertEquals(1, server.locks().size()));
                lock.unlock();
            } finally {
                clients.forEach(RedissonClient::shutdown);
            }
        }
    }

    private static RedissonClient cluster(LockredisTopology topology) {
        Config config = new Config();
        config.setThreads(2).setNettyThreads(2).useClusterServers().addNodeAddress(topology.redissonAddresses())
                .setMasterConnectionMinimumIdleSize(3).setSubscriptionConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }
}
