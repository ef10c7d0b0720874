package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** A process that ends by itself is reported once, whatever happens afterwards. */
class UnexpectedEndTest {
    private static void kill(LockredisServer server) throws Exception {
        Await.until("the log is read", () -> server.log().toString().contains("Ready to accept connections"));
        signal("-KILL", server);
    }

    private static void signal(String name, LockredisServer server) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", name, "" + server.pid()).start().waitFor());
    }

    private static void awaitEnd(LockredisServer server) throws Exception {
        Await.until("the server has ended", () -> !server.isRunning());
    }

    private static void assertReported(String code, LockredisServer server) {
        String text = server.unexpectedEnd();
        assertTrue(text != null && text.startsWith("lockredis at " + server.redissonAddress()
                + " ended by itself with exit code " + code
                + ". A test calls stop() for an outage. Its log ends with:\n  | "), "" + text);
        assertTrue(text.contains("Ready to accept connections"), text);
        assertNull(server.unexpectedEnd());
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aKilledServerIsReported() throws Exception {
        try (LockredisServer server = LockredisServer.start()) {
            kill(server);
            awaitEnd(server);
            assertReported("137 (signal 9)", server);
        }
    }

    @Test
    void aServerThatEndsWithoutAnErrorIsReported() throws Exception {
        try (LockredisServer server = LockredisServer.start()) {
            String text = assertThrows(LockredisException.class,
                    () -> server.command("SHUTDOWN")).getMessage();
            assertTrue(text.contains("the server has ended by itself with exit code 0"), text);
            assertReported("0", server);
        }
    }

    @Test
    void whatATestAsksForIsNotReported() {
        LockredisServer server = LockredisServer.start();
        server.restart();
        server.stop();
        assertNull(server.unexpectedEnd());
        server.stop();
        server.restart();
        assertNull(server.unexpectedEnd());
        server.close();
        server.close();
        assertNull(server.unexpectedEnd());
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aRestartDoesNotHideTheEnd() throws Exception {
        try (LockredisServer server = LockredisServer.start()) {
            kill(server);
            awaitEnd(server);
            server.restart();
            assertEquals("PONG", server.command("PING"));
            assertReported("137 (signal 9)", server);
            kill(server); // not yet noticed by this JVM, perhaps
            server.restart();
            assertReported("137 (signal 9)", server);
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void neitherStopNorCloseHidesTheEnd() throws Exception {
        LockredisServer server = LockredisServer.start();
        kill(server);
        server.stop();
        assertReported("137 (signal 9)", server);
        server.restart();
        kill(server);
        server.close();
        assertReported("137 (signal 9)", server);
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void anOutageOfAServerThatHangsIsNotReported() throws Exception {
        LockredisServer server = LockredisServer.start();
        signal("-STOP", server);
        server.stop();
        server.restart();
        assertNull(server.unexpectedEnd());
        server.close();
        assertNull(server.unexpectedEnd());
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void anEndThatIsAskedForJustBeforeCloseIsReported() throws Exception {
        for (int i = 0; i < 10; i++) {
            LockredisServer server = LockredisServer.start();
            signal("-TERM", server);
            Await.until("the signal has arrived", () -> server.log().toString().contains("Received a signal"));
            server.close();
            assertReported("143 (signal 15)", server);
        }
        for (int i = 0; i < 10; i++) {
            LockredisServer server = LockredisServer.start();
            try (Socket client = new Socket(server.host(), server.port())) {
                client.getOutputStream().write("SHUTDOWN\r\n".getBytes(StandardCharsets.US_ASCII));
                server.close();
                assertReported("0", server);
            }
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void anEndIsReportedAtOnce() throws Exception {
        int atOnce = 0;
        for (int i = 0; i < 10; i++) {
            try (LockredisServer server = LockredisServer.start()) {
                kill(server);
                assertEnded("137 (signal 9)", server);
                server.restart();
                try (Connection client = Clients.connect(server)) {
                    assertThrows(IOException.class, () -> client.call("SHUTDOWN"));
                    assertEnded("0", server);
                }
                server.restart();
                try (Socket client = new Socket(server.host(), server.port())) {
                    client.getOutputStream().write("SHUTDOWN\r\n".getBytes(StandardCharsets.US_ASCII));
                    atOnce += server.unexpectedEnd() == null ? 0 : 1; // it is not read yet
                }
            }
        }
        assertTrue(atOnce > 5, "an unread SHUTDOWN was noticed at once in " + atOnce + " of 10 cases");
    }

    /** The log of a server that has just started may have its first line only. */
    private static void assertEnded(String code, LockredisServer server) {
        String text = server.unexpectedEnd();
        assertTrue(text != null && text.contains(" ended by itself with exit code " + code + ". "),
                "" + text);
    }

    @Test
    void anInterruptedThreadLearnsOfTheEnd() throws Exception {
        try (LockredisServer server = LockredisServer.start()) {
            try (Connection client = Clients.connect(server)) {
                assertThrows(IOException.class, () -> client.call("SHUTDOWN"));
            }
            Thread.currentThread().interrupt();
            assertEnded("0", server);
            assertTrue(Thread.interrupted());
        }
    }

    @Test
    void aPauseOfAllClientsIsNoEnd() {
        try (LockredisServer server = LockredisServer.start()) {
            server.pauseClients(Duration.ofHours(1));
            assertNull(server.unexpectedEnd());
            server.restart();
            server.pauseWrites(Duration.ofHours(1));
            assertNull(server.unexpectedEnd());
        }
    }

    @Test
    void theEndOfOneSentinelIsReportedAndItStartsAgain() throws Exception {
        try (LockredisTopology topology = LockredisServer.sentinel()) {
            LockredisServer server = topology.server();
            String first = topology.nodes().get(0);
            shutDown(first);
            String text = server.unexpectedEnd();
            assertTrue(text != null && text.startsWith("The Sentinels of lockredis at "
                    + server.redissonAddress() + ": the one at "
                    + first + " ended by itself. Its log ends with:\n  | "), text);
            assertNull(server.unexpectedEnd());
            assertFalse(server.isRunning());
            server.restart();
            assertTrue(server.isRunning());
            shutDown(topology.nodes().get(1));
            server.closeSentinels();
            text = server.unexpectedEnd();
            assertTrue(text != null && text.contains(topology.nodes().get(1)), text);
        }
    }

    private static void shutDown(String node) {
        int port = Integer.parseInt(node.substring(node.lastIndexOf(':') + 1));
        try (Connection sentinel = new Connection(
                new Endpoint("127.0.0.1", port, null, null, 0, false, null), 60_000)) {
            sentinel.call("SHUTDOWN");
        } catch (IOException e) {
            // the connection ends without a reply
        }
    }

    @Test
    void theEndOfTheSentinelsIsReported() throws Exception {
        try (LockredisTopology topology = LockredisServer.sentinel()) {
            LockredisServer server = topology.server();
            for (String node : topology.nodes()) {
                shutDown(node);
            }
            awaitEnd(server);
            String text = server.unexpectedEnd();
            assertTrue(text.startsWith("The Sentinels of lockredis at redis://127.0.0.1:"), text);
            assertNull(server.unexpectedEnd());
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aCheckOfLeaksLeavesTheEndToItsReport() throws Exception {
        try (LockredisServer server = LockredisServer.start()) {
            LeakCheck check = LeakCheck.begin(server);
            kill(server); // not yet noticed by this JVM, perhaps
            assertNull(check.end(true));
            assertReported("137 (signal 9)", server);
        }
    }
}
