package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import redis.clients.jedis.Jedis;

/** The watchdog with a lease of 3 s: it renews locks that are held, and no others. */
class WatchdogTest extends Scenario {
    private static final long PAST_THE_LEASE_MS = Clients.WATCHDOG_MS + 700;

    @Test
    void everyKindIsKeptPastItsLease() {
        String[] kinds = {"lock", "fair", "read", "write"};
        for (String kind : kinds) {
            Steps.lock(client, kind, key + kind).lock();
        }
        Jedis jedis = observer();
        Await.elapse(PAST_THE_LEASE_MS);
        for (String kind : kinds) {
            RLock lock = Steps.lock(client, kind, key + kind);
            assertTrue(lock.isHeldByCurrentThread(), kind);
            long left = jedis.pttl(key + kind);
            assertTrue(left > 500 && left <= Clients.WATCHDOG_MS, kind + " left " + left);
            lock.unlock();
            assertFalse(lock.isHeldByCurrentThread(), kind);
        }
        assertFalse(jedis.exists(key + "read"));
    }

    @Test
    void allReadersAreKept() throws Exception {
        Release.skip("3.44.0", "3.52.0", "renews only one reader of a process");
        RLock read = client.getReadWriteLock(key).readLock();
        RLock write = client.getReadWriteLock(key).writeLock();
        Actor other = actor();
        read.lock();
        read.lock();
        other.tell(read::lock);
        Await.elapse(PAST_THE_LEASE_MS);
        assertEquals(2, read.getHoldCount());
        read.unlock();
        read.unlock();
        assertFalse(actor().ask(() -> write.tryLock()));
        other.tell(read::unlock);
        assertTrue(write.tryLock());
        write.unlock();
    }

    @Test
    void deadClientsLocksAreLetGo() throws Exception {
        lettingGo("lock", "write", "read");
    }

    @Test
    void deadClientsFairLockIsLetGo() throws Exception {
        Release.skip("3.16.0", "3.27.2", "may wait for ever for the end of a fair lock's lease");
        lettingGo("fair");
    }

    private void lettingGo(String... kinds) throws Exception {
        Peer peer = closing(Peer.start(server));
        for (String kind : kinds) {
            peer.ask(kind, "lock", kind, key + kind);
            assertFalse(wanted(kind).tryLock(), kind);
        }
        peer.die();
        long death = System.nanoTime();
        List<Future<Void>> waiting = new ArrayList<>();
        for (String kind : kinds) {
            waiting.add(actor().beginStep(() -> wanted(kind).lock()));
        }
        for (Future<Void> taken : waiting) {
            Actor.result(taken);
        }
        long waited = (System.nanoTime() - death) / 1_000_000;
        assertTrue(waited <= Clients.WATCHDOG_MS + 2_000, "waited " + waited + " ms");
    }

    /** A read lock excludes writers. */
    private RLock wanted(String kind) {
        return Steps.lock(client, kind.equals("read") ? "write" : kind, key + kind);
    }
}
