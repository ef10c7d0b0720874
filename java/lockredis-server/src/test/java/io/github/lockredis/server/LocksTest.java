package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who holds what. The scripts write what Redisson's lock scripts write. */
class LocksTest {
    private static final String OWNER = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17";
    private static final String ACQUIRE = "redis.call('hincrby', KEYS[1], ARGV[2], 1); "
            + "redis.call('pexpire', KEYS[1], ARGV[1]); return nil";

    private LockredisServer server;
    private Connection client;

    @BeforeEach
    void start() throws IOException {
        server = LockredisServer.start();
        client = Clients.connect(server);
        client.call("CLIENT", "SETNAME", "orders");
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        server.close();
    }

    private void acquire(String name) throws IOException {
        client.call("EVAL", ACQUIRE, "1", name, "30000", OWNER);
    }

    @Test
    void locksTellTheirHolders() throws IOException {
        acquire("order:1");
        acquire("order:1");
        acquire("invoice:1");
        assertEquals(2, server.locks().size());
        List<Lock> locks = server.locks("order:*");
        assertEquals(1, locks.size());
        Lock lock = locks.get(0);
        assertEquals("order:1", lock.name());
        assertEquals("lock", lock.kind());
        assertEquals(0, lock.database());
        assertTrue(lock.ttl().get().toMillis() <= 30_000);
        assertTrue(lock.queue().isEmpty());
        Lock.Holder holder = lock.holders().get(0);
        assertEquals(OWNER, holder.owner());
        assertEquals(2, holder.holds());
        assertEquals("", holder.mode());
        assertTrue(holder.ttl().isPresent());
        assertTrue(holder.heldFor().isPresent());
        assertEquals("orders", holder.client().name());
        assertFalse(holder.client().address().isEmpty());
        assertTrue(holder.client().id() > 0);
        assertTrue(lock.toString().matches("lock order:1, ttl \\d+ ms, held by " + OWNER
                + " \\(2 holds, for \\d+ ms, client id=\\d+ name=orders addr=127.0.0.1:\\d+\\)"),
                lock.toString());
    }

    @Test
    void aSubscribedClientIsAWaiterWithoutAnOwner() throws IOException {
        acquire("order:1");
        client.call("SUBSCRIBE", "redisson_lock__channel:{order:1}");
        Lock lock = server.locks().get(0);
        Lock.Waiter waiter = lock.queue().get(0);
        assertEquals("", waiter.owner());
        assertEquals("orders", waiter.client().name());
        assertTrue(waiter.waitsFor().isPresent());
        assertEquals(waiter.client().toString(), waiter.toString());
        assertTrue(lock.toString().matches("lock order:1, .*\\), waited for by client id=\\d+ name=orders"
                + " addr=127.0.0.1:\\d+"), lock.toString());
    }

    @Test
    void anOwnerInAQueueIsAWaiter() throws IOException {
        String waiting = OWNER + "8";
        acquire("order:1");
        client.call("EVAL", "redis.call('rpush', KEYS[1], ARGV[1]); redis.call('zadd', KEYS[2], ARGV[2], ARGV[1])", "2",
                "redisson_lock_queue:{order:1}", "redisson_lock_timeout:{order:1}", waiting, "9999999999999");
        client.call("SUBSCRIBE", "redisson_lock__channel:{order:1}:" + waiting);
        Lock lock = server.locks().get(0);
        assertEquals("fair", lock.kind());
        assertEquals(1, lock.queue().size());
        assertEquals(waiting, lock.queue().get(0).owner());
        assertTrue(lock.toString().matches("fair order:1, .*, queued " + waiting + " \\(client id=.*\\)"),
                lock.toString());
    }

    @Test
    void whatIsOnlyWaitedForHasNoHolder() throws IOException {
        client.call("SUBSCRIBE", "redisson_sc:{permits}");
        client.call("SUBSCRIBE", "redisson_rwlock:{book}");
        client.call("SUBSCRIBE", "redisson_countdownlatch__channel__{start}");
        List<String> kinds = new ArrayList<>();
        for (Lock lock : server.locks()) {
            assertTrue(lock.holders().isEmpty());
            assertFalse(lock.ttl().isPresent());
            assertTrue(lock.toString().matches(lock.kind() + " " + lock.name() + ", waited for by client id=.*"),
                    lock.toString());
            kinds.add(lock.kind() + " " + lock.name());
        }
        assertEquals(Arrays.asList("read-write book", "semaphore permits", "count-down-latch start"), kinds);
    }

    @Test
    void aKindAndAModeThatAreNewAreTheServersWords() {
        Fields fields = new Fields(Arrays.asList("name", "order:1", "db", 2L, "kind", "ticket", "ttl", -1L, "holders",
                Arrays.asList(Arrays.asList("owner", "seven", "mode", "intent", "holds", 1L, "held-ms", -1L)),
                "queue", Arrays.asList(Arrays.asList("owner", "", "waits-ms", -1L))));
        Lock lock = new Lock(fields);
        assertEquals("ticket", lock.kind());
        assertEquals("intent", lock.holders().get(0).mode());
        assertEquals("ticket order:1 in database 2, held by seven (1 hold, intent), waited for by unknown client",
                lock.toString());
    }

    @Test
    void aLeftLockFailsTheAssertion() throws IOException {
        server.assertNoLeaks();
        acquire("order:1");
        AssertionError e = assertThrows(AssertionError.class, server::assertNoLeaks);
        assertTrue(e.getMessage().startsWith("a leak on " + server.redissonAddress() + ":\n  "),
                e.getMessage());
        for (String part : new String[] {"order:1", OWNER, "orders"}) {
            assertTrue(e.getMessage().contains(part), e.getMessage());
        }
        Leak leak = server.leaks().get(0);
        assertEquals("lock", leak.type());
        assertEquals("order:1", leak.name());
        assertEquals(0, leak.database());
        assertEquals(OWNER, leak.owner());
        assertEquals(1, leak.holds());
        assertTrue(leak.heldFor().isPresent());
        assertTrue(leak.ttl().isPresent());
        assertEquals("orders", leak.client().name());
        assertEquals(leak.text(), leak.toString());
    }

    @Test
    void aSubscriptionIsALeak() throws IOException {
        client.call("SUBSCRIBE", "channel");
        Leak leak = server.leaks().get(0);
        assertEquals("subscription", leak.type());
        assertEquals("channel", leak.name());
        assertEquals("", leak.owner());
        assertEquals(-1, leak.holds());
    }

    @Test
    void theServersOwnConnectionsLeaveNothing() {
        server.command("SET", "data", "value");
        server.locks();
        assertTrue(server.leaks().isEmpty());
    }

    @Test
    void aFlushEndsAllLocks() throws IOException {
        acquire("order:1");
        server.flush();
        server.assertNoLeaks();
    }
}
