package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Topologies with several servers in one process. */
class NodesTest {
    /** A lock as Redisson writes it. Its key is the first argument. */
    private static final String LOCK = "redis.call('hset', KEYS[1], '6b3f4c1e-95d1-4b7e-8d1c-0a5f6c7d8e9f:1', 1)"
            + " redis.call('pexpire', KEYS[1], 30000)";
    /** Keys of the three nodes of a cluster. */
    private static final String[] KEYS = {"b", "c", "a"};

    private static LockredisTopology start(Topology kind) {
        return LockredisTopology.builder(kind).nodes(3).start();
    }

    private static void lock(LockredisTopology topology, int node) {
        topology.node(node).command("EVAL", LOCK, "1", KEYS[node]);
    }

    private static boolean sees(LockredisServer node, String state) {
        return node.command("CLUSTER", "INFO").toString().startsWith("cluster_state:" + state);
    }

    private static List<Integer> ports(LockredisTopology topology) {
        List<Integer> ports = new ArrayList<>();
        topology.servers().forEach(server -> ports.add(server.port()));
        return ports;
    }

    @Test
    void theNodesOfAClusterShareTheSlots() {
        try (LockredisTopology topology = start(Topology.CLUSTER)) {
            assertEquals(3, topology.servers().size());
            assertSame(topology.server(), topology.node(0));
            for (int i = 0; i < 3; i++) {
                LockredisServer node = topology.node(i);
                assertTrue(sees(node, "ok"));
                assertEquals("OK", node.command("SET", KEYS[i], "v"));
                assertEquals("127.0.0.1:" + node.port(), topology.nodes().get(i));
                assertEquals(node.redissonAddress(), topology.redissonAddresses()[i]);
            }
            String moved = assertThrows(LockredisException.class,
                    () -> topology.node(0).command("GET", KEYS[2])).getMessage();
            assertTrue(moved.contains("MOVED 15495 " + topology.nodes().get(2)), moved);
        }
    }

    @Test
    void aNodeStopsAndStartsAgainWhileTheOthersRun() {
        try (LockredisTopology topology = start(Topology.CLUSTER)) {
            LockredisServer node = topology.node(1);
            int port = node.port();
            for (LockredisServer each : topology.servers()) {
                each.command("CONFIG", "SET", "cluster-require-full-coverage", "no");
            }
            node.command("SET", "c", "v");
            node.stop();
            node.stop(); // changes nothing
            assertFalse(node.isRunning());
            assertTrue(assertThrows(LockredisException.class, () -> node.command("PING")).getMessage()
                    .endsWith(":" + port + " is stopped"));
            assertTrue(topology.node(0).isRunning());
            assertTrue(topology.node(0).command("CLUSTER", "NODES").toString().contains("master,fail "));
            assertEquals("OK", topology.node(0).command("SET", "b", "v"));
            node.restart();
            assertEquals(port, node.port());
            assertNull(node.command("GET", "c"));
            assertEquals("v", topology.node(0).command("GET", "b"));
            assertTrue(sees(topology.node(0), "ok"));
            topology.node(0).stop();
            assertTrue(node.isRunning());
            assertNull(topology.server().unexpectedEnd());
        }
    }

    @Test
    void primariesAreIndependent() {
        try (LockredisTopology topology = LockredisTopology.builder(Topology.PRIMARIES)
                .server(server -> server.password("secret")).start()) {
            assertEquals(3, topology.servers().size());
            assertEquals("OK", topology.node(0).command("SET", "a", "v"));
            assertNull(topology.node(1).command("GET", "a"));
            assertEquals("redis://:secret@" + topology.nodes().get(1), topology.node(1).uri());
            topology.node(0).clock().advance(Duration.ofHours(1));
            assertTrue(topology.node(1).clock().now().isBefore(Instant.now().plusSeconds(60)));
        }
    }

    private static void acquire(LockredisServer node, String name, Duration lease) {
        node.command("EVAL", LOCK, "1", name);
        node.command("PEXPIRE", name, Long.toString(lease.toMillis()));
    }

    /** Fails unless a server's clock is as far ahead of the machine's as it should be, to a minute. */
    private static void assertAhead(Duration by, LockredisServer server) {
        Duration ahead = Duration.between(Instant.now(), server.clock().now());
        assertTrue(ahead.minus(by).abs().compareTo(Duration.ofMinutes(1)) < 0, server + " is ahead by " + ahead);
    }

    @Test
    void oneClockTurnsAllNodesFromDeadlineToDeadline() {
        try (LockredisTopology topology = start(Topology.PRIMARIES)) {
            for (int i = 0; i < 3; i++) {
                acquire(topology.node(i), "early" + i, Duration.ofHours(i + 1));
                acquire(topology.node(i), "late" + i, Duration.ofHours(6 - i));
            }
            ServerClock clock = topology.clock();
            assertEquals(Arrays.asList("early0", "early1", "early2"), clock.advance(Duration.ofHours(3)).ended());
            Turn turn = clock.advance(Duration.ofHours(3));
            assertEquals(Arrays.asList("late2", "late1", "late0"), turn.ended());
            topology.servers().forEach(server -> assertAhead(Duration.ofHours(6), server));
            assertFalse(clock.now().isBefore(turn.now()));
            assertThrows(IllegalArgumentException.class, () -> clock.advance(Duration.ofMillis(-1)));
            assertThrows(LockredisException.class, () -> clock.set(Instant.ofEpochMilli(-1)));
        }
    }

    @Test
    void oneClockSetsAllNodesBackAndForth() {
        try (LockredisTopology topology = start(Topology.CLUSTER)) {
            topology.node(1).clock().advance(Duration.ofHours(1));
            acquire(topology.node(2), KEYS[2], Duration.ofMinutes(30));
            Instant past = Instant.now().minus(Duration.ofDays(1));
            assertEquals(new ArrayList<>(), topology.clock().set(past).ended());
            topology.servers().forEach(server -> assertAhead(Duration.ofDays(-1), server));
            topology.clock().reset();
            topology.servers().forEach(server -> assertAhead(Duration.ZERO, server));
        }
    }

    @Test
    void theClockOfAllNodesWorksWhileOneIsStopped() {
        try (LockredisTopology topology = start(Topology.PRIMARIES)) {
            topology.node(0).stop();
            Turn turn = topology.clock().advance(Duration.ofHours(1));
            assertFalse(topology.clock().now().isBefore(turn.now()));
            assertAhead(Duration.ofHours(1), topology.node(2));
            topology.node(0).restart(); // has the machine's time
            topology.clock().set(topology.node(1).clock().now());
            topology.servers().forEach(server -> assertAhead(Duration.ofHours(1), server));
            topology.servers().forEach(LockredisServer::stop);
            assertTrue(assertThrows(LockredisException.class, () -> topology.clock().now()).getMessage()
                    .endsWith("is stopped"));
        }
    }

    @Test
    void theClockOfOneServerIsTheServers() {
        try (LockredisTopology topology = LockredisTopology.builder(Topology.SINGLE).start()) {
            acquire(topology.server(), "a", Duration.ofMinutes(1));
            assertEquals(Arrays.asList("a"), topology.clock().advance(Duration.ofHours(1)).ended());
            assertAhead(Duration.ofHours(1), topology.server());
        }
    }

    @Test
    void thePortsBehindAGivenOneAreTheOthers() throws IOException {
        try (LockredisTopology topology = startAtAPort()) {
            assertEquals(topology.node(0).port() + 1, topology.node(1).port());
        }
    }

    /** Starts two servers at a port that is free, and the next one is free too. */
    private static LockredisTopology startAtAPort() throws IOException {
        while (true) {
            int port;
            try (ServerSocket socket = new ServerSocket(0)) {
                port = socket.getLocalPort();
            }
            try {
                return LockredisTopology.builder(Topology.PRIMARIES).nodes(2)
                        .server(server -> server.port(port)).start();
            } catch (LockredisException e) {
                assertTrue(e.getMessage().contains("address already in use"), e.getMessage());
            }
        }
    }

    @Test
    void aProxyRefusesKeysOfSeveralSlots() {
        for (LockredisTopology each : new LockredisTopology[] {
            LockredisTopology.builder(Topology.PROXY).start(), start(Topology.PROXY)}) {
            try (LockredisTopology topology = each) {
                assertEquals(1, topology.servers().size());
                assertEquals(1, topology.nodes().size());
                assertTrue(assertThrows(LockredisException.class,
                        () -> topology.server().command("MGET", "a", "b")).getMessage().contains("CROSSSLOT"));
            }
        }
    }

    @Test
    void leaksOfAllNodesAreFoundAndDeleted() {
        try (LockredisTopology topology = start(Topology.CLUSTER)) {
            LeakCheck check = LeakCheck.begin(topology.server());
            lock(topology, 1);
            lock(topology, 2);
            String text = check.end(true);
            assertTrue(text.contains("a leak on " + topology.node(1).redissonAddress() + ":\n  lock \"c\""), text);
            assertTrue(text.contains("a leak on " + topology.node(2).redissonAddress() + ":\n  lock \"a\""), text);
            assertFalse(text.contains(topology.node(0).redissonAddress()), text);
            LeakCheck clean = LeakCheck.begin(topology.server()).dataKeys("c");
            lock(topology, 1);
            assertNull(clean.end(true));
            EndWatch ends = new EndWatch(topology.server());
            Object test = new Object();
            LeakCheck next = ends.beginEmpty(test);
            assertEquals(0L, topology.node(1).command("DBSIZE"));
            lock(topology, 2);
            assertTrue(next.end(false).contains("lock \"a\""));
            lock(topology, 1);
            ends.lookAgain(next, true);
            assertTrue(ends.outside().contains("lock \"c\""));
        }
    }

    @Test
    void aTestsChangesOfAllNodesAreUndone() {
        try (LockredisTopology topology = start(Topology.CLUSTER)) {
            EndWatch ends = new EndWatch(topology.server());
            Object test = new Object();
            ends.begin(test);
            for (LockredisServer node : topology.servers()) {
                node.command("CONFIG", "SET", "hash-max-listpack-entries", "7");
                node.clock().advance(Duration.ofHours(1));
            }
            assertNull(ends.end(test, "first"));
            for (LockredisServer node : topology.servers()) {
                assertEquals("[hash-max-listpack-entries, 512]",
                        node.command("CONFIG", "GET", "hash-max-listpack-entries").toString());
                assertTrue(node.clock().now().isBefore(Instant.now().plusSeconds(60)));
            }
        }
    }

    @Test
    void theNextTestHasAllNodes() {
        try (LockredisTopology topology = start(Topology.PRIMARIES)) {
            topology.node(0).stop();
            topology.node(2).stop();
            topology.node(1).pauseClients(Duration.ofHours(1));
            LeakCheck.prepare(topology.server(), true);
            for (LockredisServer node : topology.servers()) {
                assertEquals("PONG", node.command("PING"));
            }
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS) // it has no kill
    void aProcessThatEndsStartsAgainOnItsPorts() throws Exception {
        try (LockredisTopology topology = start(Topology.CLUSTER)) {
            List<Integer> ports = ports(topology);
            EndWatch ends = new EndWatch(topology.server());
            Object test = new Object();
            ends.begin(test);
            topology.node(1).stop();
            String pid = Long.toString(topology.server().pid());
            assertEquals(0, new ProcessBuilder("kill", "-9", pid).start().waitFor());
            String end = ends.end(test, "first");
            assertTrue(end.contains("ended by itself"), end);
            LeakCheck.prepare(topology.server(), true);
            assertEquals(ports, ports(topology));
            for (LockredisServer node : topology.servers()) {
                assertTrue(sees(node, "ok"));
            }
        }
    }

    @Test
    void aNodeThatAClientShutsDownIsToldAndStartsAgain() {
        try (LockredisTopology topology = start(Topology.CLUSTER)) {
            List<Integer> ports = ports(topology);
            EndWatch ends = new EndWatch(topology.server());
            Object test = new Object();
            ends.begin(test);
            assertThrows(LockredisException.class, () -> topology.node(1).command("SHUTDOWN"));
            String end = ends.end(test, "first");
            assertTrue(end.contains("the server at " + topology.nodes().get(1) + ": PING: ERR"), end);
            LeakCheck.prepare(topology.server(), true);
            assertEquals(ports, ports(topology));
            for (LockredisServer node : topology.servers()) {
                assertTrue(sees(node, "ok"));
            }
        }
    }

    @Test
    void theTopologyClosesItsNodes() {
        LockredisTopology topology = start(Topology.PRIMARIES);
        LockredisServer node = topology.node(1);
        assertThrows(IllegalStateException.class, node::close);
        assertThrows(IllegalStateException.class, () -> node.closeOnlyBy("a test"));
        assertThrows(IndexOutOfBoundsException.class, () -> topology.node(3));
        topology.close();
        assertFalse(node.isRunning());
        assertTrue(assertThrows(LockredisException.class, () -> node.command("PING")).getMessage()
                .endsWith(" is closed"));
        assertThrows(LockredisException.class, node::restart);
    }

    @Test
    void wrongValuesAreRefused() {
        for (Topology kind : new Topology[] {Topology.SINGLE, Topology.SENTINEL}) {
            assertEquals("nodes: the topology " + kind + " has one server", assertThrows(
                    IllegalStateException.class, () -> LockredisTopology.builder(kind).nodes(3)).getMessage());
        }
        for (int nodes : new int[] {0, 1001}) {
            assertThrows(IllegalArgumentException.class,
                    () -> LockredisTopology.builder(Topology.CLUSTER).nodes(nodes));
        }
        Path any = Paths.get("any.pem");
        assertEquals("the topology PRIMARIES needs servers without TLS", assertThrows(LockredisException.class,
                () -> LockredisTopology.builder(Topology.PRIMARIES).server(server -> server.tls(any, any)).start())
                .getMessage());
    }
}
