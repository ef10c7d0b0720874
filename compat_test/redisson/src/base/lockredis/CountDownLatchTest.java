package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RCountDownLatch;

class CountDownLatchTest extends Scenario {
    private final RCountDownLatch latch = client.getCountDownLatch(key);

    @Test
    void lastCountOpensTheLatch() throws Exception {
        assertTrue(latch.trySetCount(2));
        assertFalse(latch.trySetCount(5));
        Future<Void> waiting = actor().beginStep(latch::await);
        latch.countDown();
        assertEquals(1, latch.getCount());
        assertFalse(waiting.isDone());
        latch.countDown();
        Actor.result(waiting);
        assertEquals(0, latch.getCount());
        assertTrue(latch.trySetCount(1));
    }

    @Test
    void waitForTheLatchEnds() throws Exception {
        latch.trySetCount(1);
        assertFalse(latch.await(200, TimeUnit.MILLISECONDS));
        latch.countDown();
        assertTrue(latch.await(20, TimeUnit.SECONDS));
    }
}
