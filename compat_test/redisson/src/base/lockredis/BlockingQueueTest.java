package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RBoundedBlockingQueue;

class BlockingQueueTest extends Scenario {
    private final RBlockingQueue<String> queue = client.getBlockingQueue(key);

    @Test
    void takeWaitsForAnOffer() throws Exception {
        Future<String> taking = actor().begin(queue::take);
        Await.until("the blocked client", 5_000, this::blocked);
        queue.offer("a");
        assertEquals("a", Actor.result(taking));
    }

    @Test
    void pollGivesUpAfterItsTime() throws Exception {
        assertNull(queue.poll(1, TimeUnit.SECONDS));
        queue.addAll(List.of("a", "b"));
        assertEquals("a", queue.poll(1, TimeUnit.SECONDS));
        assertEquals("b", queue.poll());
    }

    @Test
    void pollOfSeveralQueuesTakesWhatComes() throws Exception {
        RBlockingQueue<String> second = client.getBlockingQueue(key + ":2");
        Future<String> polling = actor().begin(() -> queue.pollFromAny(10, TimeUnit.SECONDS, second.getName()));
        second.put("x");
        assertEquals("x", Actor.result(polling));
    }

    @Test
    void elementMovesToAnotherQueue() throws Exception {
        queue.put("a");
        assertEquals("a", queue.pollLastAndOfferFirstTo(key + ":2", 1, TimeUnit.SECONDS));
        // No deque: the one of 3.24.3 needs a class of JDK 21.
        RBlockingQueue<String> second = client.getBlockingQueue(key + ":2");
        second.put("z");
        assertEquals("a", second.take());
        assertEquals("z", second.take());
    }

    @Test
    void boundedQueueHoldsUpItsWriter() throws Exception {
        RBoundedBlockingQueue<String> bounded = client.getBoundedBlockingQueue(key);
        assertTrue(bounded.trySetCapacity(1));
        bounded.put("a");
        assertFalse(bounded.offer("b"));
        Future<Boolean> offering = actor().begin(() -> bounded.offer("c", 10, TimeUnit.SECONDS));
        assertEquals("a", bounded.take());
        assertTrue(Actor.result(offering));
        assertEquals("c", bounded.take());
    }

    /** Tells whether a client is in a blocking command. No reply of Redis 7.0 tells its key. */
    private boolean blocked() {
        return observer().clientList().lines().anyMatch(line -> line.contains("cmd=blpop"));
    }
}
