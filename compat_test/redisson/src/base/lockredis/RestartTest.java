package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.Jedis;

/** A server that stops and starts again, empty, on the same port. */
class RestartTest extends Scenario {
    private final Server server = closing(Server.start());
    private final RedissonClient own = closing(Clients.open(server));

    @Test
    void clientLocksAgainAfterIt() {
        RLock lock = own.getLock(key);
        lock.lock(60, TimeUnit.SECONDS);
        server.stop();
        server.launch();
        Await.until("a client that is back", 20_000, () -> answers(() -> !lock.isLocked()));
        lock.lock();
        assertEquals(1, lock.getHoldCount());
        lock.unlock();
        assertFalse(lock.isLocked());
    }

    @Test
    void waiterIsBackAfterIt() throws Exception {
        RLock lock = own.getLock(key);
        Actor waiter = actor();
        lock.lock(5, TimeUnit.SECONDS);
        Future<Void> waiting = waiter.beginStep(lock::lock);
        try (Jedis jedis = server.observe()) {
            // A try that is running when the server stops fails for good. So wait for the try
            // after the subscription: a try that finds the lock held asks for its remaining
            // time.
            Await.until("the waiter's second try", 10_000, () -> Server.calls(jedis, "pttl") >= 2);
        }
        server.stop();
        server.launch();
        Actor.result(waiting);
        assertTrue(waiter.ask(lock::isHeldByCurrentThread));
        waiter.tell(lock::unlock);
    }

    /** Commands fail until the client has reconnected. */
    private static boolean answers(java.util.function.BooleanSupplier question) {
        try {
            return question.getAsBoolean();
        } catch (RuntimeException e) {
            return false;
        }
    }
}
