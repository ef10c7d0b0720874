package io.github.lockredis.server;

import java.io.IOException;

/** Connections of tests, beside those of {@link LockredisServer#command}. */
final class Clients {
    private Clients() {
    }

    /** Connects to a server. A reply may take a minute. */
    static Connection connect(LockredisServer server) throws IOException {
        return connect(server, 60_000);
    }

    /** Connects to a server. A reply may take so many milliseconds. */
    static Connection connect(LockredisServer server, int timeout) throws IOException {
        return new Connection(new Endpoint(server.host(), server.port(), null, null, 0, false, null),
                timeout);
    }
}
