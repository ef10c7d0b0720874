package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBucket;
import org.redisson.api.RMap;
import org.redisson.api.RTransaction;
import org.redisson.api.TransactionOptions;
import redis.clients.jedis.Jedis;

/** Transactions: their objects are locked until the commit, which is one MULTI. */
class TransactionTest extends Scenario {
    @Test
    void commitShowsEverythingAtOnce() {
        client.getBucket(key).set("old");
        RTransaction tx = client.createTransaction(TransactionOptions.defaults());
        RBucket<String> inside = tx.getBucket(key);
        inside.set("new");
        tx.getMap(key + ":map").put("a", "1");
        tx.getSet(key + ":set").add("x");
        assertEquals("new", inside.get());
        assertEquals("old", client.getBucket(key).get());
        assertNull(client.getMap(key + ":map").get("a"));
        tx.commit();
        assertEquals("new", client.getBucket(key).get());
        assertEquals("1", client.getMap(key + ":map").get("a"));
        assertTrue(client.getSet(key + ":set").contains("x"));
    }

    @Test
    void rollbackShowsNothing() {
        RMap<String, String> map = client.getMap(key);
        map.put("a", "1");
        RTransaction tx = client.createTransaction(TransactionOptions.defaults());
        tx.<String, String>getMap(key).put("a", "2");
        tx.<String, String>getMap(key).remove("a");
        tx.rollback();
        assertEquals("1", map.get("a"));
        assertNoLocksLeft();
    }

    @Test
    void secondTransactionWaitsForTheFirst() throws Exception {
        Actor other = actor();
        RTransaction tx = client.createTransaction(TransactionOptions.defaults());
        tx.getBucket(key).set("first");
        Future<Void> second = other.beginStep(() -> {
            RTransaction later = client.createTransaction(TransactionOptions.defaults());
            later.getBucket(key).set("second");
            later.commit();
        });
        Await.elapse(200);
        assertFalse(second.isDone());
        tx.commit();
        Actor.result(second);
        assertEquals("second", client.getBucket(key).get());
        assertNoLocksLeft();
    }

    /** The latch that an unlock leaves for its retry expires. */
    private static boolean isLatch(String name) {
        return name.startsWith("redisson_unlock_latch:");
    }

    private void assertNoLocksLeft() {
        Jedis jedis = observer();
        Await.until("the end of the transaction's locks", 5_000,
                () -> jedis.keys("*" + key + "*").stream().allMatch(name -> name.equals(key) || isLatch(name)));
    }
}
