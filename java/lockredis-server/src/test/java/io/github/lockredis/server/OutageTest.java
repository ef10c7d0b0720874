package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

class OutageTest {
    @Test
    void killedClientsLoseTheirConnections() throws Exception {
        try (LockredisServer server = LockredisServer.start();
                Connection client = Clients.connect(server);
                Connection subscriber = Clients.connect(server)) {
            client.call("PING");
            subscriber.call("SUBSCRIBE", "channel");
            assertEquals(2, server.killClients());
            assertThrows(IOException.class, () -> client.call("PING"));
            assertThrows(IOException.class, () -> subscriber.call("PING"));
            assertEquals("PONG", server.command("PING"));
        }
    }

    @Test
    void pausedClientsWait() throws Exception {
        try (LockredisServer server = LockredisServer.start();
                Connection client = Clients.connect(server, 200)) {
            server.pauseClients(Duration.ofSeconds(2));
            long from = System.nanoTime();
            assertThrows(SocketTimeoutException.class, () -> client.call("PING"));
            assertEquals("PONG", server.command("PING"));
            long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - from);
            assertTrue(waited > 1000, "waited " + waited + " ms");
        }
    }

    @Test
    void aPauseHoldsUpCommandAlone() throws Exception {
        try (LockredisServer server = LockredisServer.start();
                Connection client = Clients.connect(server)) {
            server.pauseClients(Duration.ofHours(1));
            assertTrue(server.locks().isEmpty());
            assertTrue(server.leaks().isEmpty());
            server.flush();
            assertTrue(server.isRunning());
            server.unpauseClients();
            assertEquals("PONG", client.call("PING"));
            server.pauseClients(Duration.ofHours(1));
            server.reset();
            assertEquals("PONG", client.call("PING"));
        }
    }

    @Test
    void aPauseOfWritesEndsEarly() throws Exception {
        try (LockredisServer server = LockredisServer.start();
                Connection hasty = Clients.connect(server, 200);
                Connection client = Clients.connect(server)) {
            server.pauseWrites(Duration.ofHours(1));
            String[] acquire = {"EVAL", "return redis.call('hincrby', KEYS[1], ARGV[1], 1)", "1",
                "order:1", "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17"};
            assertThrows(SocketTimeoutException.class, () -> hasty.call(acquire));
            assertEquals("PONG", client.call("PING"));
            assertTrue(server.locks().isEmpty());
            server.unpauseClients();
            client.call(acquire);
            assertEquals(1, server.locks().size());
        }
    }

    @Test
    void aStoppedServerClosesConnections() throws Exception {
        try (LockredisServer server = LockredisServer.start();
                Connection client = Clients.connect(server)) {
            client.call("PING");
            server.stop();
            assertThrows(IOException.class, () -> client.call("PING"));
            assertThrows(IOException.class, () -> Clients.connect(server));
            server.restart();
            try (Connection again = Clients.connect(server)) {
                assertEquals("PONG", again.call("PING"));
            }
        }
    }

    @Test
    void theEndOfTheConnectionIsAnError() throws Exception {
        try (LockredisServer server = LockredisServer.start();
                Connection client = Clients.connect(server)) {
            assertEquals("OK", client.call("QUIT"));
            assertThrows(IOException.class, () -> client.call("PING"));
        }
    }

    @Test
    void aPauseWithoutBoundsIsRefused() {
        try (LockredisServer server = LockredisServer.start()) {
            Duration huge = Duration.ofSeconds(Long.MAX_VALUE);
            assertEquals("pauseClients " + huge + " is not in 0 to 365 days",
                    assertThrows(IllegalArgumentException.class,
                            () -> server.pauseClients(huge)).getMessage());
            assertThrows(IllegalArgumentException.class,
                    () -> server.pauseWrites(Duration.ofMillis(-1)));
            assertEquals("PONG", server.command("PING"));
        }
    }

    @Test
    void anInterruptedThreadRestartsTheServer() {
        try (LockredisServer server = LockredisServer.start()) {
            Thread.currentThread().interrupt();
            server.restart();
            assertTrue(Thread.interrupted());
            assertEquals("PONG", server.command("PING"));
        }
    }
}
