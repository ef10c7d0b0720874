package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import io.github.lockredis.server.LockredisServer;

/** Tests that begin with the data of an RDB file. */
class SnapshotTest {
    private static final String FILE = "target/snapshot-test.rdb";

    @BeforeAll
    static void save() {
        try (LockredisServer server = LockredisServer.builder().directive("dir", "target")
                .directive("dbfilename", "snapshot-test.rdb").start()) {
            server.command("SET", "order:1", "packed");
            server.command("SAVE");
        }
    }

    @Test
    void eachTestBeginsWithIt() {
        Run.of(Packed.class).assertSucceeded(3);
    }

    @Lockredis(snapshot = FILE)
    static class Packed {
        @RepeatedTest(2)
        void repeated(LockredisServer server) {
            assertEquals("packed", server.command("GETSET", "order:1", "sent"));
            assertNull(server.command("SET", "order:2", "sent", "GET"));
        }

        @Test
        void aServerOfAnotherNameHasNoData(LockredisServer server, @Lockredis(name = "empty") LockredisServer empty) {
            assertNotEquals(server.port(), empty.port());
            assertEquals(0L, empty.command("DBSIZE"));
        }
    }

    @Test
    void aMissingFileFailsTheClassWithItsName() {
        String text = Run.of(Missing.class).failure().getMessage();
        assertTrue(text.contains("snapshot \"no.rdb\": there is neither a resource"), text);
    }

    @Lockredis(snapshot = "no.rdb")
    static class Missing {
        @Test
        void test() {
        }
    }
}
