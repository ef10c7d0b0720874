package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.Entry;
import org.redisson.api.RBlockingDeque;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RBoundedBlockingQueue;
import org.redisson.api.RDeque;
import org.redisson.api.RQueue;
import org.redisson.api.RRingBuffer;
import org.redisson.api.RTransferQueue;
import org.redisson.api.queue.DequeMoveArgs;

/** Ring buffer, bounded, double-ended and transfer queues. */
class QueueKindsTest extends Family {
    @Test
    void ringBufferForgetsTheOldest() {
        RRingBuffer<Integer> ring = client.getRingBuffer(key);
        assertTrue(ring.trySetCapacity(4));
        assertFalse(ring.trySetCapacity(9));
        assertTrue(ring.addAll(List.of(1, 2, 3)));
        assertEquals(1, ring.remainingCapacity());
        assertTrue(ring.addAll(List.of(4, 5, 6)));
        assertEquals(List.of(3, 4, 5, 6), ring.readAll());
        assertEquals(0, ring.remainingCapacity());
        ring.add(7);
        assertEquals(4, ring.peek());
        assertEquals(4, ring.poll());
        ring.setCapacity(2);
        assertEquals(List.of(6, 7), ring.readAll());
        assertEquals(2, ring.capacity());
    }

    @Test
    void boundedQueueKeepsItsCapacity() throws Exception {
        RBoundedBlockingQueue<Integer> queue = client.getBoundedBlockingQueue(key);
        assertTrue(queue.trySetCapacity(3));
        assertFalse(queue.trySetCapacity(5));
        assertTrue(queue.addAll(List.of(1, 2)));
        assertEquals(1, queue.remainingCapacity());
        assertTrue(queue.offer(3));
        assertFalse(queue.offer(4, 50, TimeUnit.MILLISECONDS));
        assertThrows(RuntimeException.class, () -> queue.add(4));
        Future<Void> putting = actor().beginStep(() -> queue.put(4));
        assertEquals(1, queue.poll(1, TimeUnit.SECONDS));
        Actor.result(putting);
        assertTrue(queue.remove(3));
        assertEquals(1, queue.remainingCapacity());
        assertEquals(2, queue.drainTo(new ConcurrentLinkedQueue<>()));
        assertEquals(3, queue.remainingCapacity());
        queue.delete();
    }

    @Test
    void dequeHasTwoEnds() {
        RDeque<String> deque = client.getDeque(key);
        assertEquals(0, deque.addFirstIfExists("x"));
        deque.addFirst("b");
        deque.addFirst("a");
        deque.addLast("c");
        assertEquals(5, deque.addLast("d", "e"));
        deque.addFirst("z");
        assertEquals(List.of("z", "a", "b", "c", "d", "e"), deque.readAll());
        assertEquals("z", deque.pollFirst());
        assertEquals(List.of("e", "d"), deque.pollLast(2));
        assertEquals("a", deque.peekFirst());
        assertTrue(deque.removeLastOccurrence("c"));
        RDeque<String> second = client.getDeque(key + ":2");
        second.add("y");
        assertEquals("a", deque.move(DequeMoveArgs.pollFirst().addLastTo(second.getName())));
        assertEquals("b", deque.move(DequeMoveArgs.pollLast().addFirstTo(second.getName())));
        assertNull(deque.move(DequeMoveArgs.pollLast().addFirstTo(second.getName())));
        assertEquals(List.of("b", "y", "a"), second.readAll());
        assertEquals("a", second.pollLastAndOfferFirstTo(key));
    }

    @Test
    void blockingDequeServesBothEnds() throws Exception {
        RBlockingDeque<String> deque = client.getBlockingDeque(key);
        Future<String> last = actor().begin(deque::takeLast);
        deque.putFirst("a");
        assertEquals("a", Actor.result(last));
        deque.addAll(List.of("b", "c", "d"));
        assertEquals("d", deque.pollLast(1, TimeUnit.SECONDS));
        assertEquals("b", deque.takeFirst());
        assertEquals("c", deque.pollLastFromAny(1, TimeUnit.SECONDS, key + ":2"));
        RBlockingDeque<String> second = client.getBlockingDeque(key + ":2");
        Future<String> moving = actor().begin(() -> deque.move(Duration.ofSeconds(15),
                DequeMoveArgs.pollLast().addFirstTo(second.getName())));
        deque.put("e");
        assertEquals("e", Actor.result(moving));
        Future<String> passed = actor().begin(() -> second.takeLastAndOfferFirstTo(key));
        assertEquals("e", Actor.result(passed));
        assertEquals(List.of("e"), deque.readAll());
    }

    @Test
    void blockingQueuesTellWhichOneServed() throws Exception {
        RBlockingQueue<String> one = client.getBlockingQueue(key);
        RBlockingQueue<String> two = client.getBlockingQueue(key + ":2");
        Future<Entry<String, String>> named = actor().begin(
                () -> one.pollFromAnyWithName(Duration.ofSeconds(15), two.getName()));
        two.put("x");
        Entry<String, String> entry = Actor.result(named);
        assertEquals(two.getName(), entry.getKey());
        assertEquals("x", entry.getValue());
        two.addAll(List.of("p", "q", "r"));
        assertEquals(Map.of(two.getName(), List.of("p", "q")),
                one.pollFirstFromAny(Duration.ofSeconds(1), 2, two.getName()));
        Future<Map<String, List<String>>> waiting = actor().begin(
                () -> two.pollLastFromAny(Duration.ofSeconds(15), 5, one.getName()));
        assertEquals(Map.of(two.getName(), List.of("r")), Actor.result(waiting));
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        int listener = one.subscribeOnElements(heard::add);
        one.addAll(List.of("1", "2", "3"));
        Await.until("three elements", 10_000, () -> heard.size() == 3);
        assertEquals(List.of("1", "2", "3"), List.copyOf(heard));
        one.unsubscribe(listener);
    }

    @Test
    void transferWaitsForTheConsumer() throws Exception {
        RTransferQueue<String> queue = client.getTransferQueue(key);
        assertFalse(queue.tryTransfer("refused"));
        assertFalse(queue.tryTransfer("late", 100, TimeUnit.MILLISECONDS));
        assertEquals(List.of(), queue.readAll());
        Future<Void> transfer = actor().beginStep(() -> queue.transfer("a"));
        Await.until("the element", 10_000, () -> queue.size() == 1);
        assertFalse(transfer.isDone());
        assertEquals("a", queue.poll());
        Actor.result(transfer);
        queue.put("b");
        queue.put("c");
        assertEquals(List.of("b", "c"), queue.readAll());
        assertEquals("b", queue.take());
        Future<Boolean> timed = actor().begin(() -> queue.tryTransfer("d", 15, TimeUnit.SECONDS));
        assertEquals("c", queue.take());
        assertEquals("d", queue.take());
        assertTrue(Actor.result(timed));
        assertTrue(queue.isEmpty());
    }

    @Test
    void pollOfManyKeepsTheOrder() {
        RQueue<Integer> queue = client.getQueue(key);
        for (int i = 0; i < 20; i++) {
            queue.add(i);
        }
        assertEquals(List.of(0, 1, 2), queue.poll(3));
        assertTrue(queue.removeAll(List.of(4, 6, 8, 10, 12, 14, 16, 18)));
        assertEquals(List.of(3, 5, 7, 9, 11, 13, 15, 17, 19), queue.poll(100));
        assertNull(queue.peek());
    }
}
