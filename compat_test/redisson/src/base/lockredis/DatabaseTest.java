package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.Jedis;

/** Locks in database 1: keys are per database, channels per server. */
class DatabaseTest extends Scenario {
    private final RedissonClient second = Clients.open(Server.shared(),
            config -> config.useSingleServer().setDatabase(1));

    @Test
    void lockOfDatabase1IsNotThatOfDatabase0() throws Exception {
        closing(second);
        RLock here = client.getLock(key);
        RLock there = second.getLock(key);
        there.lock();
        assertTrue(here.tryLock());
        here.unlock();
        Jedis jedis = observer();
        assertFalse(jedis.exists(key));
        jedis.select(1);
        assertTrue(jedis.exists(key));
        Actor other = actor();
        Future<Void> waiting = other.beginStep(there::lock);
        Await.until("the waiter's subscription", 5_000, () -> Channels.subscribers(jedis, Channels.lock(key)) == 1);
        there.unlock();
        Actor.result(waiting);
        other.tell(there::unlock);
        assertEquals(0, jedis.exists(new String[] {key}));
    }
}
