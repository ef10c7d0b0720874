package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class LockredisServerTest {
    @Test
    void aStartedServerAnswers() {
        try (LockredisServer server = LockredisServer.start()) {
            assertEquals("PONG", server.command("PING"));
            assertEquals("redis://127.0.0.1:" + server.port(), server.uri());
            assertEquals(server.uri(), server.redissonAddress());
            assertEquals("127.0.0.1", server.host());
            assertNull(server.password());
            assertTrue(server.isRunning());
            assertTrue(server.pid() > 0);
            assertEquals("7.0.15", server.redisVersion());
        }
    }

    @Test
    void flushDeletesTheDataOfAllDatabases() {
        try (LockredisServer server = LockredisServer.start()) {
            server.command("SET", "key", "value");
            server.flush();
            assertNull(server.command("GET", "key"));
        }
    }

    @Test
    void aRestartKeepsThePortAndLosesTheData() {
        try (LockredisServer server = LockredisServer.start()) {
            int port = server.port();
            server.command("SET", "key", "value");
            server.stop();
            assertFalse(server.isRunning());
            assertThrows(LockredisException.class, () -> server.command("PING"));
            server.restart();
            assertEquals(port, server.port());
            assertNull(server.command("GET", "key"));
        }
    }

    @Test
    void onlyItsOwnerClosesAServer() {
        LockredisServer server = LockredisServer.start();
        Runnable close = server.closeOnlyBy("JUnit");
        try {
            assertRefused("close: a test must not close lockredis at " + server.redissonAddress()
                    + ": JUnit does. For an outage call stop()", server::close);
            assertEquals("PONG", server.command("PING"));
            assertRefused("closeOnlyBy(\"a test\"): the server is closed by JUnit",
                    () -> server.closeOnlyBy("a test"));
        } finally {
            close.run();
        }
        assertFalse(server.isRunning());
        assertThrows(LockredisException.class, server::restart);
    }

    @Test
    void anOwnerHasAName() {
        try (LockredisServer server = LockredisServer.start()) {
            for (String blank : new String[] {"", " \t"}) {
                String text = assertThrows(IllegalArgumentException.class,
                        () -> server.closeOnlyBy(blank)).getMessage();
                assertEquals("closeOnlyBy(\"" + blank
                        + "\"): give the name of what closes the server, such as JUnit", text);
            }
        } // it has no owner
        try (LockredisTopology topology = LockredisServer.cluster()) {
            assertThrows(IllegalArgumentException.class, () -> topology.closeOnlyBy(""));
        }
    }

    @Test
    void onlyItsOwnerClosesATopology() {
        LockredisTopology topology = LockredisServer.sentinel();
        Runnable close = topology.closeOnlyBy("JUnit");
        try {
            assertThrows(IllegalStateException.class, topology::close);
            assertThrows(IllegalStateException.class, topology.server()::close);
            assertTrue(topology.server().isRunning()); // its Sentinels too
        } finally {
            close.run();
        }
        assertFalse(topology.server().isRunning());
        assertNull(topology.server().unexpectedEnd());
    }

    private static void assertRefused(String text, Executable task) {
        assertEquals(text, assertThrows(IllegalStateException.class, task).getMessage());
    }

    @Test
    void aClosedServerIsGone() {
        LockredisServer server = LockredisServer.start();
        server.close();
        server.close();
        assertFalse(server.isRunning());
        assertThrows(LockredisException.class, server::restart);
    }
}
