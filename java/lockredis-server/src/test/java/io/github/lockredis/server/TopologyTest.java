package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class TopologyTest {
    private static Connection connect(String node, String password) throws IOException {
        int colon = node.lastIndexOf(':');
        int port = Integer.parseInt(node.substring(colon + 1));
        return new Connection(new Endpoint(node.substring(0, colon), port, null, password, 0, false,
                null), 10_000);
    }

    private static Object ask(String node, String password, String... command) throws IOException {
        try (Connection connection = connect(node, password)) {
            return connection.call(command);
        }
    }

    /** Returns a field of what a Sentinel knows about its primary. */
    private static String field(LockredisTopology topology, String name) throws IOException {
        List<?> fields = (List<?>) ask(topology.nodes().get(0), topology.sentinelPassword(),
                "SENTINEL", "MASTER", topology.masterName());
        return (String) fields.get(fields.indexOf(name) + 1);
    }

    @Test
    void threeSentinelsKnowTheServer() throws Exception {
        try (LockredisTopology topology = LockredisServer.sentinel()) {
            LockredisServer server = topology.server();
            List<Object> address = Arrays.asList(server.host(), "" + server.port());
            assertEquals(3, topology.nodes().size());
            for (String node : topology.nodes()) {
                assertEquals(address, ask(node, null, "SENTINEL", "GET-MASTER-ADDR-BY-NAME",
                        topology.masterName()));
            }
            assertEquals("2", field(topology, "num-other-sentinels"));
            assertEquals("2", field(topology, "quorum"));
            assertEquals("redis://" + topology.nodes().get(2), topology.redissonAddresses()[2]);
            assertEquals("redis-sentinel://" + String.join(",", topology.nodes())
                    + "?sentinelMasterId=mymaster", topology.uri());
        }
    }

    @Test
    void theBuilderSetsTheDirectivesOptions() throws Exception {
        try (LockredisTopology topology = LockredisTopology.builder(Topology.SENTINEL)
                .masterName("orders")
                .sentinels(2)
                .sentinelPassword("#1\"")
                .quorum(1)
                .downAfter(Duration.ofSeconds(7))
                .server(server -> server.password("s:/cret").directive("loglevel", "warning"))
                .start()) {
            assertEquals("s:/cret", topology.server().command("CONFIG", "GET", "requirepass")
                    .toString().replaceAll(".*, |]", ""));
            assertEquals("7000", field(topology, "down-after-milliseconds"));
            assertEquals("1", field(topology, "quorum"));
            assertEquals("master", field(topology, "flags")); // the password is right
            assertEquals("#1\"", topology.sentinelPassword());
            assertEquals("s:/cret", topology.password());
            assertEquals("redis-sentinel://:s%3A%2Fcret@" + String.join(",", topology.nodes())
                    + "?sentinelMasterId=orders", topology.uri());
            assertThrows(Connection.ErrorReply.class,
                    () -> ask(topology.nodes().get(1), null, "PING"));
        }
    }

    @Test
    void portsMayBeGiven() throws Exception {
        int port;
        int sentinelPort;
        try (ServerSocket one = new ServerSocket(0); ServerSocket two = new ServerSocket(0)) {
            port = one.getLocalPort();
            sentinelPort = two.getLocalPort();
        }
        LockredisTopology.Builder builder = LockredisTopology.builder(Topology.SENTINEL)
                .sentinels(1).server(server -> server.port(port));
        try (LockredisTopology topology = builder.start()) {
            assertEquals(port, topology.server().port());
            assertFalse(topology.nodes().contains("127.0.0.1:26379")); // a free port
        }
        try (LockredisTopology topology = builder.sentinelPort(sentinelPort).start()) {
            assertEquals(Arrays.asList("127.0.0.1:" + sentinelPort), topology.nodes());
        }
    }

    @Test
    void theSentinelsPortNeedsNoPortOfTheServer() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        LockredisTopology.Builder builder = LockredisTopology.builder(Topology.SENTINEL)
                .sentinels(1).sentinelPort(port);
        try (LockredisTopology topology = builder.start()) {
            assertEquals(Arrays.asList("127.0.0.1:" + port), topology.nodes());
            String message = assertThrows(LockredisException.class, builder::start).getMessage();
            assertTrue(message.contains("Without sentinelPort(" + port + ") the Sentinels take"),
                    message);
        }
    }

    @Test
    void stopReturnsWhenNothingListensAndNoClientIsServed() throws Exception {
        try (LockredisTopology topology = LockredisServer.sentinel()) {
            LockredisServer server = topology.server();
            for (int i = 0; i < 10; i++) {
                String node = server.host() + ":" + server.port();
                try (Connection client = connect(node, null)) {
                    client.call("PING");
                    server.stop();
                    assertFalse(Await.listens(server.port()));
                    assertThrows(IOException.class, () -> client.call("PING"));
                }
                server.restart();
            }
        }
    }

    @Test
    void stopNeedsNoCommand() throws Exception {
        String[][] obstacles = {
            {"CLIENT", "PAUSE", "600000", "ALL"},
            {"CONFIG", "SET", "requirepass", "another"},
            {"CONFIG", "SET", "maxclients", "1"},
        };
        for (String[] obstacle : obstacles) {
            try (LockredisTopology topology = LockredisTopology.builder(Topology.SENTINEL)
                    .server(server -> server.directive("rename-command", "SHUTDOWN", "")).start()) {
                LockredisServer server = topology.server();
                server.command(obstacle);
                server.restart();
                assertEquals("PONG", server.command("PING"));
                server.command(obstacle);
                server.stop();
                assertFalse(Await.listens(server.port()));
            }
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void stopEndsAServerThatHangs() throws Exception {
        try (LockredisTopology topology = LockredisServer.sentinel()) {
            LockredisServer server = topology.server();
            signal("STOP", server.pid());
            server.restart();
            assertEquals("PONG", server.command("PING"));
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void restartStartsDeadSentinelsOnTheirPorts() throws Exception {
        try (LockredisTopology topology = LockredisServer.sentinel()) {
            LockredisServer server = topology.server();
            signal("KILL", server.pid());
            Await.until("the server has ended", () -> !server.isRunning());
            server.restart();
            assertEquals("PONG", ask(topology.nodes().get(0), null, "PING"));
            for (String node : topology.nodes()) {
                try {
                    ask(node, null, "SHUTDOWN");
                } catch (IOException e) {
                    // the connection ends without a reply
                }
            }
            Await.until("the end of the Sentinels is noticed", () -> !server.isRunning());
            server.restart();
            assertTrue(server.isRunning());
            for (String node : topology.nodes()) {
                assertEquals("PONG", ask(node, null, "PING"));
            }
            Await.until("the Sentinels see the server",
                    () -> field(topology, "flags").equals("master"));
            Await.until("the log", () ->
                    server.log().toString().contains("+monitor master mymaster"));
        }
    }

    private static void signal(String name, long pid) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-" + name, "" + pid).start().waitFor());
    }

    @Test
    void anOutageIsSeenByTheSentinels() throws Exception {
        try (LockredisTopology topology = LockredisTopology.builder(Topology.SENTINEL)
                .downAfter(Duration.ofMillis(200)).start()) {
            LockredisServer server = topology.server();
            int port = server.port();
            long pid = server.pid();
            server.command("SET", "key", "value");
            server.stop();
            server.stop();
            assertFalse(server.isRunning());
            assertFalse(Await.listens(port));
            assertTrue(assertThrows(LockredisException.class, () -> server.command("PING"))
                    .getMessage().endsWith("is stopped"));
            Await.until("the server is down",
                    () -> field(topology, "flags").contains("o_down"));
            server.restart();
            assertEquals(port, server.port());
            assertNull(server.command("GET", "key"));
            assertFalse(server.pid() == pid);
            Await.until("the server is up", () -> field(topology, "flags").equals("master"));
            server.restart();
            assertEquals("PONG", server.command("PING"));
        }
    }

    @Test
    void theServersMethodsWork() throws Exception {
        try (LockredisTopology topology = LockredisServer.sentinel()) {
            LockredisServer server = topology.server();
            server.command("EVAL", "redis.call('hset', KEYS[1], ARGV[1], 1)"
                    + " redis.call('pexpire', KEYS[1], 60000)", "1", "order:7",
                    "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:1");
            assertEquals("order:7", server.locks().get(0).name());
            AssertionError leaks = assertThrows(AssertionError.class, server::assertNoLeaks);
            assertTrue(leaks.getMessage().contains("order:7"), leaks.getMessage());
            server.flush();
            server.assertNoLeaks(); // the Sentinels' own subscriptions are none
        }
    }

    @Test
    void sentinelsConnectAgainAfterTheirConnectionsWereKilled() throws Exception {
        try (LockredisTopology topology = LockredisServer.sentinel()) {
            assertTrue(topology.server().killClients() >= 3);
            Await.until("the Sentinels are connected", () -> topology.server()
                    .command("PUBSUB", "NUMSUB", "__sentinel__:hello").toString()
                    .equals("[__sentinel__:hello, 3]"));
        }
    }

    @Test
    void closeEndsAllNodes() throws Exception {
        for (boolean restarted : new boolean[] {false, true}) {
            LockredisTopology topology = LockredisServer.sentinel();
            if (restarted) {
                topology.server().restart();
            }
            topology.close();
            topology.close();
            assertFalse(topology.server().isRunning());
            Await.closed(topology.server().port());
            for (String node : topology.nodes()) {
                Await.closed(Integer.parseInt(node.substring(node.lastIndexOf(':') + 1)));
            }
        }
    }

    @Test
    void aClusterHasOneNode() throws Exception {
        try (LockredisTopology topology = LockredisServer.cluster()) {
            LockredisServer server = topology.server();
            for (int i = 0; i < 2; i++) {
                assertTrue(server.command("CLUSTER", "INFO").toString()
                        .startsWith("cluster_state:ok"));
                LockredisException slots = assertThrows(LockredisException.class,
                        () -> server.command("MSET", "a", "1", "b", "2"));
                assertTrue(slots.getMessage().contains("CROSSSLOT"), slots.getMessage());
                server.restart();
            }
            assertArrayEquals(new String[] {server.redissonAddress()},
                    topology.redissonAddresses());
            assertEquals(server.host() + ":" + server.port(), topology.nodes().get(0));
            assertEquals(server.uri(), topology.uri());
            assertNull(topology.masterName());
            assertNull(topology.sentinelPassword());
        }
    }

    @Test
    void clientsOfAClusterWithTlsLearnItsPort(@TempDir Path folder) throws Exception {
        TestCertificate certificate = TestCertificate.in(folder);
        try (LockredisTopology topology = LockredisTopology.builder(Topology.CLUSTER)
                .server(server -> server.tls(certificate.certificate, certificate.privateKey))
                .start()) {
            LockredisServer server = topology.server();
            String slots = server.command("CLUSTER", "SLOTS").toString();
            assertTrue(slots.contains(", " + server.port() + ", "), slots);
            assertEquals("rediss://" + topology.nodes().get(0), topology.redissonAddresses()[0]);
        }
    }

    @Test
    void aTopologyIsNotASingleRunningRedis() {
        try (LockredisServer running = LockredisServer.start()) {
            System.setProperty("lockredis.uri", running.uri());
            assertTrue(assertThrows(LockredisException.class, LockredisServer::cluster)
                    .getMessage().contains("lockredis.uri is the address of a single server"));
            try (LockredisTopology single = LockredisTopology.builder(Topology.SINGLE).start()) {
                assertEquals(running.uri(), single.uri());
            }
            assertTrue(running.isRunning());
        } finally {
            System.clearProperty("lockredis.uri");
        }
    }

    @Test
    void mistakesAreNamed() {
        LockredisTopology.Builder cluster = LockredisTopology.builder(Topology.CLUSTER);
        assertTrue(assertThrows(IllegalStateException.class, () -> cluster.masterName("orders"))
                .getMessage().contains("masterName: the topology CLUSTER has no Sentinels"));
        for (int count : new int[] {0, -1, 16}) {
            assertRefused("sentinels " + count + " is not in 1 to 15", b -> b.sentinels(count));
        }
        assertRefused("sentinelPort 65534 is not in 0 to 65520", b -> b.sentinelPort(65534));
        assertRefused("quorum 0 is not in 1 to 15", b -> b.quorum(0));
        assertRefused("quorum 3 is not in 1 to 2", b -> b.quorum(3).sentinels(2).start());
        assertRefused("masterName is empty or has white space", b -> b.masterName("a b"));
        assertRefused("sentinelPassword is empty or has white space",
                b -> b.sentinelPassword("a secret"));
        for (Duration time : new Duration[] {Duration.ZERO, Duration.ofSeconds(Long.MAX_VALUE)}) {
            assertRefused("downAfter " + time + " is not in 1 ms", b -> b.downAfter(time));
        }
    }

    private static void assertRefused(String text, Consumer<LockredisTopology.Builder> wrong) {
        String message = assertThrows(IllegalArgumentException.class,
                () -> wrong.accept(LockredisTopology.builder(Topology.SENTINEL))).getMessage();
        assertTrue(message.startsWith(text), message);
    }

    @Test
    void sentinelsNeedAServerWithoutTls(@TempDir Path folder) throws Exception {
        TestCertificate certificate = TestCertificate.in(folder);
        LockredisTopology.Builder builder = LockredisTopology.builder(Topology.SENTINEL)
                .server(server -> server.tls(certificate.certificate, certificate.privateKey));
        assertTrue(assertThrows(LockredisException.class, builder::start).getMessage()
                .contains("the topology SENTINEL needs a server without TLS"));
    }
}
