package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.api.RedissonClient;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;

/** Servers behind Sentinels and clusters. */
class TopologyTest {
    @Test
    void fieldsAndParametersGetTheTopologyOfTheClass() {
        Run.of(Everywhere.class, WithAnExtension.class, Single.class).assertSucceeded(4);
        assertFalse(Everywhere.last.get().server().isRunning());
    }

    @Lockredis(topology = Topology.SENTINEL, masterName = "orders", sentinelPassword = "sesame",
            password = "secret")
    static class Everywhere {
        static final AtomicReference<LockredisTopology> last = new AtomicReference<>();
        @Lockredis
        static LockredisTopology shared;
        @Lockredis
        LockredisServer server;
        @Lockredis
        int port;

        @Test
        void test(LockredisTopology topology, @Lockredis String uri) {
            last.set(topology);
            assertSame(shared, topology);
            assertSame(topology.server(), server);
            assertEquals(server.port(), port);
            assertEquals(topology.uri(), uri);
            assertEquals("orders", topology.masterName());
            assertEquals("sesame", topology.sentinelPassword());
            assertEquals("secret", topology.password());
        }

        @Nested
        class Inner {
            @Test
            void test(LockredisTopology topology,
                    @Lockredis(topology = Topology.CLUSTER) LockredisTopology other) {
                assertSame(shared, topology);
                assertNotSame(shared, other);
                assertEquals(Topology.CLUSTER, other.kind());
            }
        }
    }

    static class WithAnExtension {
        @RegisterExtension
        static LockredisExtension lockredis = LockredisExtension.builder()
                .server(server -> server.password("secret"))
                .sentinels(topology -> topology.sentinels(1).downAfter(Duration.ofSeconds(1)))
                .build();

        @Test
        void test(LockredisTopology topology) {
            assertEquals(1, topology.nodes().size());
            assertEquals("secret", topology.password());
        }
    }

    @Lockredis
    static class Single {
        @Test
        void test(LockredisTopology topology, LockredisServer server) {
            assertEquals(Topology.SINGLE, topology.kind());
            assertEquals(server.uri(), topology.uri());
        }
    }

    @Test
    void aLeakInAClusterFailsTheTest() {
        String leaked = Run.of(Cluster.class).failure("aLeaves").getMessage();
        assertTrue(leaked.contains("lock \"order:1\" is held by"), leaked);
    }

    @Lockredis(topology = Topology.CLUSTER)
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class Cluster {
        static RedissonClient redisson;

        @BeforeAll
        static void connect(LockredisTopology topology) {
            redisson = Clients.cluster(topology);
        }

        @AfterAll
        static void disconnect() {
            redisson.shutdown();
        }

        @Test
        void aLeaves(LockredisServer server) {
            redisson.getLock("order:1").lock();
        }

        @Test
        void bIsEmpty(LockredisServer server) {
            assertTrue(server.locks().isEmpty());
            redisson.getLock("order:1").lock();
            redisson.getLock("order:1").unlock();
        }
    }

    @Test
    void aMasterNameNeedsSentinels() {
        String message = Run.of(NameOnly.class).failure("NameOnly").getMessage();
        assertTrue(message.contains("masterName: the topology SINGLE has no Sentinels"), message);
    }

    @Lockredis(masterName = "orders")
    static class NameOnly {
        @Test
        void test() {
        }
    }

    @Test
    void valuesOfSentinelsNeedSentinelsInAnyOrder() {
        LockredisExtension.Builder first = LockredisExtension.builder()
                .sentinels(topology -> topology.sentinels(1)).topology(Topology.CLUSTER);
        LockredisExtension.Builder last = LockredisExtension.builder()
                .topology(Topology.CLUSTER).sentinels(topology -> topology.sentinels(1));
        for (LockredisExtension.Builder builder : Arrays.asList(first, last)) {
            assertEquals("sentinels: the topology CLUSTER has no Sentinels",
                    assertThrows(IllegalStateException.class, builder::build).getMessage());
        }
    }

    @Test
    void aStoppedServerRunsAgainInTheNextTest() {
        Run.of(Outage.class).assertSucceeded(2);
    }

    @Lockredis(topology = Topology.SENTINEL)
    static class Outage {
        @Test
        void one(LockredisServer server) {
            server.stop();
        }

        @Test
        void two(LockredisServer server) {
            server.stop();
        }
    }
}
