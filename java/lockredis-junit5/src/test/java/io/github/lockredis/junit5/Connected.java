package io.github.lockredis.junit5;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.redisson.api.RedissonClient;

import io.github.lockredis.server.LockredisServer;

/** A class whose tests share a client of the server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class Connected {
    RedissonClient client;

    @BeforeAll
    void connect(LockredisServer server) {
        client = Clients.redisson(server);
    }

    @AfterAll
    void disconnect() {
        client.shutdown();
    }
}
