package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;

/** Connections closed by CLIENT KILL: the client reconnects and continues. */
class ClientKillTest extends Scenario {
    private static final Server OWN = Server.start();
    private final RedissonClient cut = closing(Clients.open(OWN));
    private final Jedis jedis = closing(OWN.observe());

    @AfterAll
    static void stop() {
        OWN.close();
    }

    private long kill(String type) {
        return (Long) jedis.sendCommand(Command.CLIENT, "KILL", "TYPE", type, "SKIPME", "yes");
    }

    @Test
    void holderKeepsItsLock() throws Exception {
        RLock lock = cut.getLock(key);
        lock.lock(60, TimeUnit.SECONDS);
        assertTrue(kill("normal") > 0);
        assertTrue(lock.isHeldByCurrentThread());
        lock.lock(60, TimeUnit.SECONDS);
        assertEquals(2, lock.getHoldCount());
        lock.unlock();
        lock.unlock();
        assertFalse(lock.isLocked());
    }

    @Test
    void waiterSubscribesAgainAndIsWoken() throws Exception {
        RLock lock = cut.getLock(key);
        Actor waiter = actor();
        lock.lock(60, TimeUnit.SECONDS);
        Future<Void> waiting = waiter.beginStep(lock::lock);
        Await.until("the waiter's subscription", 5_000, () -> Channels.subscribers(jedis, Channels.lock(key)) == 1);
        assertEquals(1, kill("pubsub"));
        Await.until("the new subscription", 10_000, () -> Channels.subscribers(jedis, Channels.lock(key)) == 1);
        lock.unlock();
        Actor.result(waiting);
        waiter.tell(lock::unlock);
    }
}
