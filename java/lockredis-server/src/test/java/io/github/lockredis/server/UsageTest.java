package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

import org.junit.jupiter.api.Test;

/** The code of the chapter on LockredisServer in docs/java.md. */
class UsageTest {
    @Test
    void aServerIsAResource() {
        try (LockredisServer server = LockredisServer.start()) {
            String address = server.redissonAddress(); // redis://127.0.0.1:40123
            assertEquals("PONG", server.command("PING"));
            assertTrue(server.locks().isEmpty());
            server.assertNoLeaks();
            assertTrue(address.endsWith(":" + server.port()));
        }
    }

    @Test
    void aBuilderSetsOtherValues() {
        try (LockredisServer server = LockredisServer.builder()
                .password("secret")
                .databases(4)
                .directive("notify-keyspace-events", "Ex")
                .start()) {
            assertEquals("redis://:secret@127.0.0.1:" + server.port(), server.uri());
        }
    }

    @Test
    void aUserHasTheRightsOfAnApplication() {
        try (LockredisServer server = LockredisServer.builder()
                .user("app", "on", ">secret", "~orders:*", "~redisson_*", "&redisson_*", "+@all")
                .start()) {
            String address = server.uri("app", "secret"); // redis://app:secret@127.0.0.1:40123
            assertEquals("OK", server.command("ACL", "DRYRUN", "app", "SET", "orders:1", "x"));
            assertEquals("redis://app:secret@127.0.0.1:" + server.port(), address);
        }
    }

    @Test
    void aClientFindsTheServerThroughSentinels() {
        try (LockredisTopology topology = LockredisServer.sentinel()) {
            String[] sentinels = topology.redissonAddresses(); // for addSentinelAddress
            String name = topology.masterName(); // mymaster
            LockredisServer server = topology.server(); // locks, leaks, outages
            assertEquals(3, sentinels.length);
            assertEquals("mymaster", name);
            server.assertNoLeaks();
        }
    }

    @Test
    void aBuilderSetsOtherValuesOfSentinels() {
        try (LockredisTopology topology = LockredisTopology.builder(Topology.SENTINEL)
                .masterName("orders")
                .downAfter(Duration.ofSeconds(1))
                .server(server -> server.password("secret"))
                .start()) {
            topology.server().stop(); // in one to three seconds the Sentinels say +odown
            assertFalse(topology.server().isRunning());
        }
    }

    @Test
    void anOutage() {
        try (LockredisServer server = LockredisServer.start()) {
            server.pauseClients(Duration.ofMillis(50)); // the server hangs
            server.killClients(); // all connections break
            server.stop(); // nothing listens
            assertFalse(server.isRunning());
            server.restart(); // the same port, without the data
            assertTrue(server.isRunning());
        }
    }
}
