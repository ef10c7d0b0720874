package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

/** The code of docs/faults.md, and of the chapter on LockredisServer in docs/java.md. */
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

    /** The code of docs/faults.md, without that about Redisson. */
    @Test
    void faultsGoByTheirKinds() throws Exception {
        try (LockredisServer server = LockredisServer.start()) {
            Fault lost = server.faults().loseReply(new Match().command("incr"));
            assertThrows(LockredisException.class, () -> server.command("INCR", "orders"));
            assertEquals("1", server.command("GET", "orders"));
            assertEquals(1, lost.hits());

            server.faults().loseRequest(new Match().command("incr"));
            assertThrows(LockredisException.class, () -> server.command("INCR", "orders"));
            assertEquals("1", server.command("GET", "orders"));

            Fault held = server.faults().holdRequest(new Match().command("set").key("orders:*"));
            CompletableFuture<Object> reply =
                    CompletableFuture.supplyAsync(() -> server.command("SET", "orders:42", "paid"));
            held.awaitHits(1);
            assertNull(server.command("GET", "orders:42"));
            held.release();
            assertEquals("OK", reply.get());

            server.faults().failRequest(new Match().command("set").times(2), "OOM command not allowed");
            assertThrows(LockredisException.class, () -> server.command("SET", "k", "v"));
            assertThrows(LockredisException.class, () -> server.command("SET", "k", "v"));
            assertEquals("OK", server.command("SET", "k", "v"));

            server.faults().endLease(new Match().command("get"));
            server.command("SET", "lock", "owner", "PX", "30000");
            assertNull(server.command("GET", "lock"));

            server.faults().stop(Duration.ofMillis(100));
            assertEquals("OK", server.command("SET", "k", "v"));

            server.faults().delayReply(new Match().command("get"), Duration.ofMillis(50));
            assertEquals("v", server.command("GET", "k"));

            server.faults().dropMessage(new MessageMatch().channel("redisson_lock__channel:*").nth(2));

            int cut = server.faults().cut(new Connections().client("orders")); // they may connect again
            int silent = server.faults().silence(new Connections().subscribed()); // their messages are lost
            assertEquals(0, cut + silent);
        }
    }

    /** The code of docs/faults.md about a handle. */
    @Test
    void aFaultIsAResource() {
        try (LockredisServer server = LockredisServer.start()) {
            Match third = new Match().command("evalsha").client("orders").nth(3);
            try (Fault fault = server.faults().failRequest(third, "ERR no")) {
                assertEquals(0, fault.hits()); // and held(), release(), awaitHits(n)
                assertEquals(1, server.faults().list().size());
            }
            server.faults().clear();
            assertTrue(server.commandCounts().isEmpty()); // such as {evalsha=3, ping=1}
        }
    }
}
