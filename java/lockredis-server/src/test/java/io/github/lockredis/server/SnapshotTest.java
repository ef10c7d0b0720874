package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that begin with the data of an RDB file. */
class SnapshotTest {
    private static final String OWNER = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17";

    @TempDir
    Path folder;
    private Path file;

    @BeforeEach
    void save() {
        file = folder.resolve("orders.rdb");
        try (LockredisServer server = LockredisServer.builder().directive("dir", folder.toString())
                .directive("dbfilename", "orders.rdb").start()) {
            server.command("SET", "order:1", "packed");
            server.command("EVAL", "redis.call('hincrby', KEYS[1], ARGV[1], 1)", "1", "order:lock", OWNER);
            server.command("SAVE");
        }
    }

    private LockredisServer start() {
        return LockredisServer.builder().snapshot(file.toString()).start();
    }

    private static Object packed(LockredisServer server) {
        return server.command("GET", "order:1");
    }

    @Test
    void aServerBeginsWithItEachTimeItStarts() {
        try (LockredisServer server = start()) {
            assertEquals("packed", packed(server));
            server.flush();
            assertNull(packed(server));
            server.restart();
            assertEquals("packed", packed(server));
            server.stop();
            LeakCheck.prepare(server, false);
            assertEquals("packed", packed(server));
            assertEquals(file.toString(), server.config().snapshot());
            assertTrue(server.config().toString().contains("snapshot=" + file), server.config().toString());
        }
    }

    @Test
    void theNextTestBeginsWithItAndWithNothingElse() {
        try (LockredisServer server = start()) {
            server.command("SET", "order:1", "sent");
            server.command("SET", "order:2", "sent");
            LeakCheck.prepare(server, false);
            assertEquals("sent", packed(server));
            LeakCheck.prepare(server, true);
            assertEquals("packed", packed(server));
            assertNull(server.command("GET", "order:2"));
            assertNull(server.unexpectedEnd());
        }
    }

    @Test
    void aLockOfTheFileIsNoLeak() {
        try (LockredisServer server = start()) {
            LeakCheck check = new EndWatch(server).beginEmpty(this);
            assertEquals("1", server.command("HGET", "order:lock", OWNER));
            assertEquals("[]", server.locks().toString());
            assertNull(check.end(true));
        }
    }

    @Test
    void aNewServerInPlaceOfOneThatHangsBeginsWithIt() {
        try (LockredisServer server = start()) {
            server.processes().replace("it hangs");
            assertEquals("packed", packed(server));
        }
    }

    @Test
    void severalServersHaveNone() {
        LockredisTopology.Builder several = LockredisTopology.builder(Topology.PRIMARIES)
                .server(values -> values.snapshot(file.toString()));
        String text = assertThrows(LockredisException.class, several::start).getMessage();
        assertTrue(text.startsWith("snapshot \"" + file + "\": several servers "), text);
    }

    @Test
    void aResourceOfTheClassPathComesFirst() throws IOException {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader tests = new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
            Thread.currentThread().setContextClassLoader(tests);
            for (String name : Arrays.asList("orders.rdb", "/orders.rdb")) {
                try (LockredisServer server = LockredisServer.builder().snapshot(name).start()) {
                    assertEquals("packed", packed(server));
                }
            }
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Test
    void aMissingOrBrokenFileFailsTheStart() throws IOException {
        LockredisServer.Builder missing = LockredisServer.builder().snapshot("no/orders.rdb");
        String text = assertThrows(LockredisException.class, missing::start).getMessage();
        assertTrue(text.startsWith("snapshot \"no/orders.rdb\": there is neither a resource of the class path with this"
                + " name nor the file /"), text);
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
        text = assertThrows(LockredisException.class, this::start).getMessage();
        assertTrue(text.startsWith("snapshot \"" + file + "\": the server does not load it: ERR RDB file: at byte "), text);
    }
}
