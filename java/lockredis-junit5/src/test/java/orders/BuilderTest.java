package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockredis.junit5.LockredisExtension;
import io.github.lockredis.server.LockredisServer;

class BuilderTest {
    @RegisterExtension
    static LockredisExtension lockredis = LockredisExtension.builder()
            .server(server -> server.databases(4).logConsumer(line -> { }))
            .build();

    @Test
    void hasFourDatabases(LockredisServer server) {
        assertEquals("[databases, 4]", server.command("CONFIG", "GET", "databases").toString());
    }
}
