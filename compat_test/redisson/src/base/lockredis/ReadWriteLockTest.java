package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import redis.clients.jedis.Jedis;

/** Read and write locks: many readers or one writer. */
class ReadWriteLockTest extends Scenario {
    private final RLock read = client.getReadWriteLock(key).readLock();
    private final RLock write = client.getReadWriteLock(key).writeLock();

    @Test
    void readersShareOverTwoProcesses() throws Exception {
        Peer peer = closing(Peer.start(server));
        Actor other = actor();
        read.lock();
        assertTrue(other.ask(() -> read.tryLock()));
        assertEquals("true", peer.ask("a", "try", "read", key, "1000"));
        assertEquals("false", peer.ask("b", "try", "write", key, "0"));
        assertFalse(write.tryLock());
        read.unlock();
        other.tell(read::unlock);
        assertFalse(write.tryLock());
        peer.ask("a", "unlock", "read", key);
        assertTrue(write.tryLock());
        assertEquals("false", peer.ask("a", "try", "read", key, "0"));
        write.unlock();
        assertFalse(observer().exists(key));
    }

    @Test
    void writerKeepsReadersAndWritersOut() throws Exception {
        Actor other = actor();
        write.lock();
        assertFalse(other.ask(() -> read.tryLock()));
        assertFalse(other.ask(() -> write.tryLock()));
        Future<Void> waiting = other.beginStep(read::lock);
        write.unlock();
        Actor.result(waiting);
        other.tell(read::unlock);
    }

    @Test
    void lastReaderWakesTheWriter() throws Exception {
        Actor second = actor();
        Actor writer = actor();
        Jedis jedis = observer();
        read.lock();
        second.tell(read::lock);
        Future<Void> waiting = writer.beginStep(write::lock);
        Await.until("the writer's subscription", 5_000,
                () -> Channels.subscribers(jedis, Channels.readWrite(key)) == 1);
        read.unlock();
        assertFalse(waiting.isDone());
        second.tell(read::unlock);
        Actor.result(waiting);
        assertEquals("write", jedis.hget(key, "mode"));
        writer.tell(write::unlock);
    }

    @Test
    void writerMayReadAndStepDown() throws Exception {
        Actor other = actor();
        Jedis jedis = observer();
        write.lock();
        read.lock();
        assertFalse(other.ask(() -> read.tryLock()));
        write.unlock();
        assertEquals("read", jedis.hget(key, "mode"));
        assertTrue(other.ask(() -> read.tryLock()));
        assertFalse(other.ask(() -> write.tryLock()));
        other.tell(read::unlock);
        read.unlock();
        assertFalse(jedis.exists(key));
    }

    @Test
    void bothLocksAreReentrant() throws Exception {
        Actor other = actor();
        read.lock();
        read.lock();
        assertEquals(2, read.getHoldCount());
        read.unlock();
        assertFalse(other.ask(() -> write.tryLock()));
        read.unlock();
        write.lock();
        write.lock();
        assertEquals(2, write.getHoldCount());
        write.unlock();
        assertFalse(other.ask(() -> read.tryLock()));
        write.unlock();
        assertTrue(other.ask(() -> read.tryLock()));
        other.tell(read::unlock);
    }

    @Test
    void readerMayNotBecomeWriter() {
        read.lock();
        assertFalse(write.tryLock());
        read.unlock();
    }

    @Test
    void unlockByAnotherThreadIsRefused() throws Exception {
        Actor other = actor();
        write.lock();
        assertThrows(IllegalMonitorStateException.class, () -> other.tell(write::unlock));
        write.unlock();
    }

    @Test
    void longerReadLeaseOutlivesTheShorter() throws Exception {
        Actor brief = actor();
        Actor patient = actor();
        Actor writer = actor();
        brief.tell(() -> read.lock(500, TimeUnit.MILLISECONDS));
        patient.tell(() -> read.lock(4_000, TimeUnit.MILLISECONDS));
        Await.elapse(900);
        assertFalse(writer.ask(() -> write.tryLock()));
        assertTrue(patient.ask(read::isHeldByCurrentThread));
        assertTrue(writer.ask(() -> write.tryLock(10, TimeUnit.SECONDS)));
        writer.tell(write::unlock);
    }

    @Test
    void writeLeaseEnds() throws Exception {
        Actor writer = actor();
        writer.tell(() -> write.lock(300, TimeUnit.MILLISECONDS));
        assertTrue(read.tryLock(10, TimeUnit.SECONDS));
        read.unlock();
    }
}
