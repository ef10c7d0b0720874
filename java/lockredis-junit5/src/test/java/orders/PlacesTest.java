package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.LockredisServer;

class PlacesTest {
    @Lockredis
    static LockredisServer server;

    @Lockredis(name = "archive", password = "secret", directives = "maxmemory 10mb")
    static LockredisServer archive;

    @Lockredis
    int port;

    @Test
    void sharesTheServers(@Lockredis String uri, @Lockredis(name = "archive") String archiveUri) {
        assertEquals("redis://127.0.0.1:" + port, uri);
        assertEquals("redis://:secret@127.0.0.1:" + archive.port(), archiveUri);
    }

    @Test
    void hasItsOwnServer(@Lockredis(perMethod = true) LockredisServer own) {
        own.stop();
        assertTrue(server.isRunning());
    }
}
