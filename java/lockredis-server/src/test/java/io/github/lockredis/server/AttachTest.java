package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** With lockredis.uri the servers are a running Redis. */
class AttachTest {
    private static LockredisServer attach(String uri) {
        System.setProperty("lockredis.uri", uri);
        return LockredisServer.start();
    }

    @AfterEach
    void clear() {
        System.clearProperty("lockredis.uri");
    }

    @Test
    void theServerOfTheUriIsUsedAndRunsOn() {
        try (LockredisServer own = LockredisServer.builder().password("s:/cret").start()) {
            own.command("SET", "elsewhere", "stays");
            try (LockredisServer server = attach(own.uri() + "/3")) {
                assertTrue(server.isAttached());
                assertTrue(server.isRunning());
                assertEquals(own.port(), server.port());
                assertEquals("s:/cret", server.password());
                assertEquals(own.uri() + "/3", server.uri());
                server.command("SET", "key", "value");
                server.flush();
                assertNull(server.command("GET", "key"));
                assertThrows(UnsupportedOperationException.class, server::stop);
                assertThrows(UnsupportedOperationException.class, server::restart);
                assertEquals("faults: the server of lockredis.uri is not ours",
                        assertThrows(UnsupportedOperationException.class, server::faults).getMessage());
                assertThrows(UnsupportedOperationException.class, server::commandCounts);
                assertNotOurs("clock", server::clock);
                assertNotOurs("waiters", () -> server.waiters("lock"));
                assertNotOurs("probeWaiters", () -> server.probeWaiters("lock"));
                assertNotOurs("endLease", () -> server.endLease("lock"));
                assertNotOurs("awaitHeld", () -> server.awaitHeld("lock"));
                assertNotOurs("awaitFree", () -> server.awaitFree("lock"));
                assertNotOurs("awaitWaiters", () -> server.awaitWaiters("lock", 1));
                assertEquals(-1, server.pid());
            }
            assertTrue(own.isRunning());
            assertEquals("stays", own.command("GET", "elsewhere"));
        }
    }

    private static void assertNotOurs(String method, Executable call) {
        assertEquals(method + ": the server of lockredis.uri is not ours",
                assertThrows(UnsupportedOperationException.class, call).getMessage());
    }

    @Test
    void aRealRedisHasNoLeaksToTell(@TempDir Path folder) throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        Process redis = null;
        try {
            redis = new ProcessBuilder("redis-server", "--port", "" + port, "--save", "", "--dir",
                    folder.toString()).redirectErrorStream(true)
                    .redirectOutput(folder.resolve("log").toFile()).start();
        } catch (IOException e) {
            assumeTrue(false, "no redis-server");
        }
        try {
            Await.until("redis-server listens", () -> Await.listens(port));
            try (LockredisServer server = attach("redis://127.0.0.1:" + port)) {
                assertEquals(server.redisVersion(), server.version());
                assertTrue(server.leaks().isEmpty());
                server.assertNoLeaks();
            }
        } finally {
            redis.destroy();
            redis.waitFor();
        }
    }

    @Test
    void anAddressWithoutAServerIsNamed() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        LockredisException e = assertThrows(LockredisException.class,
                () -> attach("redis://127.0.0.1:" + port));
        assertTrue(e.getMessage().startsWith("lockredis.uri: PING on redis://127.0.0.1:" + port + ": "), e.getMessage());
    }

    @Test
    void urisAreReadAsRedisCliReadsThem() {
        Endpoint full = Endpoint.parse("rediss://us%20er:pa%2Bs+s%3A@example.org:7000/4");
        assertEquals("us er", full.user);
        assertEquals("pa+s+s:", full.password);
        assertEquals(4, full.database);
        assertTrue(full.tls);
        assertEquals("rediss://us%20er:pa%2Bs%2Bs%3A@example.org:7000/4", full.uri());
        Endpoint short6 = Endpoint.parse("redis://[::1]");
        assertEquals("::1", short6.host);
        assertEquals(6379, short6.port);
        assertEquals("redis://[::1]:6379", short6.uri());
        assertFalse(short6.tls);
        assertNull(Endpoint.parse("redis://:@h/").password);
        assertEquals("secret", Endpoint.parse("redis://secret@h").password);
        for (String wrong : new String[] {"http://a", "redis://", "redis://h:1/x", "127.0.0.1:6379",
            "a b", "redis://:secret@h/1/2", "redis://:secret@h/-1", "redis://:secret@h?database=2",
            "redis-sentinel://:secret@h", "redis://:secret@h:x", "redis://:secret %@h"}) {
            LockredisException e =
                    assertThrows(LockredisException.class, () -> Endpoint.parse(wrong), wrong);
            assertFalse(e.getMessage().contains("secret"), e.getMessage());
        }
    }

    @Test
    void aPortThatCannotBeNamesTheProperty() {
        for (String port : new String[] {"0", "65536", "99999"}) {
            LockredisException e = assertThrows(LockredisException.class, () -> attach("redis://h:" + port));
            assertEquals("lockredis.uri: port " + port + " is not in 1 to 65535", e.getMessage());
        }
        assertEquals(65535, Endpoint.parse("redis://h:65535").port);
    }

    @Test
    void theUserAndTheDatabaseOfTheUriAreUsed() {
        try (LockredisServer own = LockredisServer.builder().password("s:/cret").start()) {
            assertNull(own.username());
            assertEquals(0, own.database());
            String address = "default:s%3A%2Fcret@127.0.0.1:" + own.port();
            try (LockredisServer server = attach("redis://" + address + "/3")) {
                assertEquals("default", server.username());
                assertEquals("s:/cret", server.password());
                assertEquals(3, server.database());
                assertEquals("redis://" + address + "/3", server.uri());
                server.command("SET", "key", "value");
                assertEquals(0L, own.command("DBSIZE"));
            }
            LockredisException e = assertThrows(LockredisException.class,
                    () -> attach("redis://" + address + "/16"));
            assertTrue(e.getMessage().endsWith(": ERR DB index is out of range"), e.getMessage());
            e = assertThrows(LockredisException.class,
                    () -> attach("redis://bob:none@127.0.0.1:" + own.port()));
            assertTrue(e.getMessage().contains("WRONGPASS"), e.getMessage());
        }
    }
}
