package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigurationTest {
    private static String configured(LockredisServer server, String directive) {
        return ((List<?>) server.command("CONFIG", "GET", directive)).get(1).toString();
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Test
    void aPasswordIsNeededAndIsInTheUri() throws Exception {
        String password = "s3cret \"/@:\u00e4";
        try (LockredisServer server = LockredisServer.builder().password(password).start()) {
            assertEquals(password, server.password());
            assertEquals("PONG", server.command("PING"));
            assertEquals("redis://:s3cret%20%22%2F%40%3A%C3%A4@127.0.0.1:" + server.port(), server.uri());
            assertEquals("redis://127.0.0.1:" + server.port(), server.redissonAddress());
            try (Connection connection = Clients.connect(server, 10_000)) {
                assertThrows(Connection.ErrorReply.class, () -> connection.call("PING"));
            }
            assertFalse(server.config().toString().contains("s3cret"));
            assertFalse(String.join(" ", server.commandLine()).contains("s3cret"));
        }
    }

    @Test
    void aUserHasItsPasswordAndItsRules() throws Exception {
        String password = "s3cret \"\\'/@:#\u00e4";
        LockredisServer.Builder builder = LockredisServer.builder().password("other")
                .user("app", "on", ">" + password, "~orders:*", "+get", "+ping", "(+set ~a\"b)")
                .user("second");
        try (LockredisServer server = builder.start()) {
            for (int start = 0; start < 2; start++) {
                Endpoint app = Endpoint.parse(server.uri("app", password));
                assertEquals(password, app.password);
                try (Connection connection = new Connection(app, 10_000)) {
                    assertEquals("PONG", connection.call("PING"));
                    assertEquals(null, connection.call("GET", "orders:1"));
                    assertEquals("OK", connection.call("SET", "a\"b", "x"));
                    Connection.ErrorReply e = assertThrows(Connection.ErrorReply.class,
                            () -> connection.call("SET", "orders:1", "x"));
                    assertTrue(e.getMessage().startsWith("NOPERM"), e.getMessage());
                }
                assertEquals(Arrays.asList("app", "default", "second"), server.command("ACL", "USERS"));
                server.restart();
            }
            assertEquals("redis://:other@127.0.0.1:" + server.port(), server.uri());
            String shown = server.config() + String.join(" ", server.commandLine()) + server.log();
            assertFalse(shown.contains("s3cret"), shown);
            assertTrue(server.config().toString().contains("user=app on >*** ~orders:*"), shown);
        }
    }

    @Test
    void aUserNeedsANameOfItsOwn() {
        for (String name : new String[] {"", "a b", "a\nb", "default"}) {
            assertThrows(IllegalArgumentException.class, () -> LockredisServer.builder().user(name));
        }
    }

    @Test
    void directivesReachTheServer() {
        try (LockredisServer server = LockredisServer.builder()
                .databases(3)
                .directive("notify-keyspace-events", "Ex")
                .directive("client-output-buffer-limit", "pubsub", "1mb", "0", "0")
                .directives("# a comment\n\nsave ''\n  # another", "requirepass \"a b\tc\"")
                .start()) {
            assertEquals("3", configured(server, "databases"));
            assertEquals("xE", configured(server, "notify-keyspace-events"));
            assertTrue(configured(server, "client-output-buffer-limit").contains("pubsub 1048576 0 0"));
            assertEquals("", configured(server, "save"));
            assertEquals("a b\tc", server.password());
        }
    }

    @Test
    void aConfigFileIsReadAndTheBuilderWins(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("a redis.conf");
        Files.write(file, Arrays.asList("# production", "port 6379", "maxclients 77", "databases 5",
                "bind 127.0.0.1", "requirepass \"from file\""));
        try (LockredisServer server = LockredisServer.builder().configFile(file).databases(6).start()) {
            assertNotEquals(6379, server.port());
            assertEquals("from file", server.password());
            assertEquals("77", configured(server, "maxclients"));
            assertEquals("6", configured(server, "databases"));
        }
    }

    @Test
    void whatBindsAConfigFileToItsMachineIsNotUsed(@TempDir Path folder) throws Exception {
        Path data = Files.createDirectory(folder.resolve("data"));
        Path file = Files.write(folder.resolve("redis.conf"), Arrays.asList("port 6379",
                "bind 192.0.2.1", "tls-port 6380", "tls-cert-file /no/such.crt",
                "tls-key-file /no/such.key", "unixsocket /no/such/redis.sock", "daemonize yes",
                "supervised systemd", "syslog-enabled yes", "pidfile /no/such/redis.pid",
                "port-file /no/such/port", "logfile /no/such/redis.log", "dir " + data,
                "dbfilename production.rdb", "save 1 1", "appendonly yes",
                "replicaof 192.0.2.1 6379", "min-replicas-to-write 1", "min-slaves-max-lag 5", "maxclients 77"));
        try (LockredisServer server = LockredisServer.builder().configFile(file).start()) {
            assertEquals("127.0.0.1", server.host());
            assertEquals("77", configured(server, "maxclients"));
            assertEquals("", configured(server, "save"));
            Await.until("the log", () -> server.log().toString().contains("Ready"));
            server.command("SET", "order:1", "packed");
        }
        try (Stream<Path> files = Files.list(data)) {
            assertEquals(0, files.count());
        }
        try (LockredisTopology sentinel = LockredisTopology.builder(Topology.SENTINEL)
                .server(server -> server.configFile(file)).start()) {
            assertEquals(3, sentinel.nodes().size());
        }
    }

    @Test
    void aDirectiveWinsOverWhatBindsAConfigFileToItsMachine(@TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("redis.conf"), Arrays.asList("dir /no/such"));
        for (int i = 0; i < 2; i++) {
            try (LockredisServer server = LockredisServer.builder().configFile(file)
                    .directive("dir", folder.toString()).directive("save", "3600", "1").start()) {
                assertEquals(i == 0 ? null : "packed", server.command("GET", "order:1"));
                server.command("SET", "order:1", "packed");
            }
        }
    }

    @Test
    void aFixedPortWorksThoughTheServerIsSilent(@TempDir Path folder) throws Exception {
        int port = freePort();
        Path log = folder.resolve("server.log");
        try (LockredisServer server = LockredisServer.builder().port(port)
                .directive("logfile", log.toString()).start()) {
            assertEquals(port, server.port());
            assertEquals("PONG", server.command("PING"));
            Await.until("the log", () ->
                    new String(Files.readAllBytes(log), StandardCharsets.UTF_8).contains("Ready"));
        }
        try (LockredisServer server = LockredisServer.builder().directive("port", "" + port)
                .directive("loglevel", "warning").start()) {
            assertEquals(port, server.port());
        }
    }

    @Test
    void tlsIsSpokenWithTheCertificate(@TempDir Path folder) throws Exception {
        TestCertificate made = TestCertificate.in(folder);
        try (LockredisServer server = LockredisServer.builder()
                .tls(made.certificate, made.privateKey).password("secret").start()) {
            assertEquals("rediss://:secret@127.0.0.1:" + server.port(), server.uri());
            assertEquals("rediss://127.0.0.1:" + server.port(), server.redissonAddress());
            assertTrue(server.isTls());
            assertEquals("PONG", server.command("PING"));
            int port = server.port();
            server.restart();
            assertEquals(port, server.port());
            assertEquals("PONG", server.command("PING"));
        }
    }

    @Test
    void aTextHasADirectiveOnEachLine() {
        try (LockredisServer server = LockredisServer.builder()
                .directives("\n  maxmemory 10mb\r\n\n  databases 3\n").start()) {
            assertEquals(Arrays.asList("maxmemory", "10485760"),
                    server.command("CONFIG", "GET", "maxmemory"));
            assertEquals(Arrays.asList("databases", "3"), server.command("CONFIG", "GET", "databases"));
        }
    }

    @Test
    void aStartNeedsAPositiveTime() {
        for (Duration wrong : new Duration[] {Duration.ZERO, Duration.ofSeconds(-1),
                Duration.ofSeconds(Long.MAX_VALUE)}) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                    () -> LockredisServer.builder().startTimeout(wrong));
            assertTrue(e.getMessage().contains("more than zero"), e.getMessage());
        }
    }

    @Test
    void aConsumerGetsTheLogAndTheServerKeepsItsEnd() throws Exception {
        List<String> lines = new CopyOnWriteArrayList<>();
        try (LockredisServer server = LockredisServer.builder().logConsumer(line -> {
            lines.add(line);
            throw new AssertionError("a consumer that fails");
        }).directive("loglevel", "debug").start()) {
            Await.until("the ready line", () -> lines.stream().anyMatch(l -> l.contains("Ready")));
            Await.until("the log", () -> server.log().toString().contains("Ready"));
            server.stop();
            assertTrue(lines.toString().contains("bye bye"), lines.toString());
        }
    }

    @Test
    void aConsumerThatBlocksDoesNotStopTheServer() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        List<String> lines = new CopyOnWriteArrayList<>();
        LockredisTopology.Builder builder = LockredisTopology.builder(Topology.SENTINEL)
                .server(server -> server.startTimeout(Duration.ofSeconds(60)).logConsumer(line -> {
                    try {
                        release.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    lines.add(line);
                }));
        try (LockredisTopology topology = builder.start()) {
            assertEquals("PONG", topology.server().command("PING"));
            release.countDown();
            Await.until("the lines", () -> lines.toString().contains("+monitor master"));
        }
    }

    @Test
    void aSlowConsumerLosesTheOldestLines() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch first = new CountDownLatch(1);
        List<String> lines = new ArrayList<>();
        LineQueue queue = new LineQueue(line -> {
            first.countDown();
            try {
                release.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            lines.add(line);
            throw new AssertionError("a consumer that fails");
        });
        queue.add("first");
        first.await();
        for (int i = 0; i < LineQueue.LIMIT + 5; i++) {
            queue.add("" + i);
        }
        release.countDown();
        queue.await(Child.PATIENCE * 1000L);
        assertEquals("first", lines.get(0));
        assertTrue(lines.get(1).matches("lockredis dropped [56] lines: .*"), lines.get(1));
        assertEquals("" + (LineQueue.LIMIT + 4), lines.get(lines.size() - 1));
    }

    @Test
    void onlyTheLast200LinesOfTheLogAreKept() {
        Output output = new Output(new LineQueue(line -> { }), 0, 1);
        byte[] text = new byte[1000];
        Arrays.fill(text, (byte) '\n');
        output.drain(new java.io.ByteArrayInputStream(text), 0);
        try {
            assertTrue(output.awaitEnd(60_000));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assertEquals(200, output.lines().size());
    }

    @Test
    void equalBuildersHaveEqualConfigs() {
        LockredisServer.Builder one = LockredisServer.builder().databases(3).password("a");
        LockredisServer.Builder two = LockredisServer.builder().databases(3).password("a");
        assertEquals(one.config(), two.config());
        assertEquals(one.config().hashCode(), two.config().hashCode());
        assertNotEquals(one.config(), two.password("b").config());
        assertEquals("LockredisConfig[port=auto databases=3 password=***]", one.config().toString());
    }

    @Test
    void aWrongArgumentIsRefusedAtOnce() {
        LockredisServer.Builder builder = LockredisServer.builder();
        assertThrows(IllegalArgumentException.class, () -> builder.port(65536));
        assertThrows(IllegalArgumentException.class, () -> builder.databases(0));
        assertThrows(IllegalArgumentException.class, () -> builder.databases(Integer.MAX_VALUE));
        assertThrows(IllegalArgumentException.class, () -> builder.directive("a\nb", "c"));
        assertThrows(NullPointerException.class, () -> builder.password(null));
    }

    @Test
    void hostsAreThoseOfTheBindDirective() {
        assertEquals("127.0.0.1", ConfigText.host(null));
        assertEquals("127.0.0.1", ConfigText.host("* -::*"));
        assertEquals("127.0.0.1", ConfigText.host("10.1.2.3 127.0.0.1"));
        assertEquals("10.1.2.3", ConfigText.host("10.1.2.3 -::1"));
        assertEquals("::1", ConfigText.host("-::1"));
    }
}
