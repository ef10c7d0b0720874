package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBucket;

/** RBucket and RBuckets with the release's own codec. */
class BucketTest extends Scenario {
    private final RBucket<String> bucket = client.getBucket(key);

    @Test
    void valuesAreSetComparedAndSwapped() {
        assertNull(bucket.get());
        bucket.set("a");
        assertEquals("a", bucket.get());
        assertFalse(bucket.trySet("b"));
        assertTrue(bucket.compareAndSet("a", "b"));
        assertFalse(bucket.compareAndSet("a", "c"));
        assertEquals("b", bucket.getAndSet("d"));
        assertTrue(bucket.delete());
        assertFalse(bucket.isExists());
    }

    @Test
    void valueWithTimeToLiveEnds() {
        bucket.set("a", 2_500, TimeUnit.MILLISECONDS);
        assertTrue(bucket.remainTimeToLive() > 0);
        Await.until("the value's end", 10_000, () -> bucket.get() == null);
        assertTrue(bucket.trySet("b", 60, TimeUnit.SECONDS));
        assertTrue(bucket.clearExpire());
        assertEquals(-1, bucket.remainTimeToLive());
        bucket.delete();
    }

    @Test
    void richValuesComeBack() {
        RBucket<List<String>> list = client.getBucket(key);
        List<String> value = new ArrayList<>(List.of("a", "", "ü"));
        list.set(value);
        assertEquals(value, list.get());
        list.rename(key + ":2");
        assertTrue(client.getBucket(key + ":2").delete());
    }
}
