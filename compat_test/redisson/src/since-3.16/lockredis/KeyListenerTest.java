package lockredis;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.DeletedObjectListener;
import org.redisson.api.ExpiredObjectListener;
import org.redisson.api.RBucket;

/** Redisson's object listeners, which use keyspace events. */
class KeyListenerTest extends Scenario {
    private final Queue<String> heard = new ConcurrentLinkedQueue<>();

    @Test
    void expiredAndDeletedObjectsAreHeardOf() {
        RBucket<String> bucket = client.getBucket(key);
        int expired = bucket.addListener((ExpiredObjectListener) name -> heard.add("expired " + name));
        int deleted = bucket.addListener((DeletedObjectListener) name -> heard.add("deleted " + name));
        bucket.set("a", 150, TimeUnit.MILLISECONDS);
        Await.until("the expiry", 5_000, () -> heard.contains("expired " + key));
        bucket.set("a");
        bucket.delete();
        Await.until("the deletion", 5_000, () -> heard.contains("deleted " + key));
        bucket.removeListener(expired);
        bucket.removeListener(deleted);
    }
}
