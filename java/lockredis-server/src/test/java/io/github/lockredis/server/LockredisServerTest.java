package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

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
    void aClosedServerIsGone() {
        LockredisServer server = LockredisServer.start();
        server.close();
        server.close();
        assertFalse(server.isRunning());
        assertThrows(LockredisException.class, server::restart);
    }
}
