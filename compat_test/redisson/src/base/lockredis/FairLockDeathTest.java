package lockredis;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.Jedis;

/** A dead waiter blocks a fair lock's queue only until its deadline. */
class FairLockDeathTest extends Scenario {
    @Test
    void deadWaiterLosesItsPlace() throws Exception {
        RedissonClient own = closing(Clients.open(Server.shared(),
                config -> Api.fairWait(config, Steps.IMPATIENT_MS)));
        RLock lock = Steps.lock(own, "impatient", key);
        Peer peer = closing(Peer.start(Server.shared(), true));
        Jedis jedis = observer();
        // The deadline is the rest of the lease plus one waiting time.
        lock.lock(4_000, TimeUnit.MILLISECONDS);
        peer.begin("a", "lock", "impatient", key);
        Await.until("the peer's place", 5_000, () -> jedis.llen(Channels.fairQueue(key)) == 1);
        peer.die();
        Actor second = actor();
        Future<Void> waiting = second.beginStep(lock::lock);
        Await.until("the second place", 5_000, () -> jedis.llen(Channels.fairQueue(key)) == 2);
        lock.unlock();
        Actor.result(waiting);
        assertTrue(second.ask(lock::isHeldByCurrentThread));
        second.tell(lock::unlock);
        assertFalse(jedis.exists(Channels.fairQueue(key)));
        assertFalse(jedis.exists(Channels.fairTimeouts(key)));
    }
}
