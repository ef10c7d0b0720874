package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;

/** Elements that appear in their queue only after a delay. */
class DelayedQueueTest extends Scenario {
    @Test
    void elementsAppearWhenTheirTimeHasCome() throws Exception {
        RBlockingQueue<String> queue = client.getBlockingQueue(key);
        RDelayedQueue<String> delayed = client.getDelayedQueue(queue);
        delayed.offer("late", 5_000, TimeUnit.MILLISECONDS);
        delayed.offer("soon", 2_000, TimeUnit.MILLISECONDS);
        assertTrue(queue.isEmpty());
        assertEquals(2, delayed.size());
        assertEquals("soon", queue.poll(15, TimeUnit.SECONDS));
        assertEquals("late", queue.poll(15, TimeUnit.SECONDS));
        delayed.destroy();
    }
}
