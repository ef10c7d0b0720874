package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;

/** Clients stopped by CLIENT PAUSE wait, and then get their replies. */
class ClientPauseTest extends Scenario {
    private static final Server OWN = Server.start();
    private final RedissonClient paused = closing(Clients.open(OWN));
    private final Jedis jedis = closing(OWN.observe());

    @AfterAll
    static void stop() {
        OWN.close();
    }

    @Test
    void lockWaitsForThePausesEnd() throws Exception {
        RLock lock = paused.getLock(key);
        long start = System.nanoTime();
        jedis.sendCommand(Command.CLIENT, "PAUSE", "500");
        lock.lock();
        long waited = (System.nanoTime() - start) / 1_000_000;
        assertTrue(waited >= 490, "waited " + waited + " ms");
        assertTrue(lock.isHeldByCurrentThread());
        lock.unlock();
    }

    @Test
    void pauseOfWritesLetsReadersGoOn() throws Exception {
        RLock lock = paused.getLock(key);
        Actor other = actor();
        jedis.sendCommand(Command.CLIENT, "PAUSE", "60000", "WRITE");
        assertFalse(lock.isLocked());
        Future<Void> waiting = other.beginStep(lock::lock);
        assertEquals(0, lock.getHoldCount());
        assertFalse(waiting.isDone());
        jedis.sendCommand(Command.CLIENT, "UNPAUSE");
        Actor.result(waiting);
        assertTrue(lock.isLocked());
        other.tell(lock::unlock);
    }
}
