package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RPriorityBlockingDeque;
import org.redisson.api.RPriorityBlockingQueue;
import org.redisson.api.RPriorityDeque;
import org.redisson.api.RPriorityQueue;

/** Queues in the order of a comparator, which the clients keep by a lock and a binary search. */
class PriorityQueueTest extends Family {
    /** Longer words first. */
    public static final class Length implements Comparator<String>, Serializable {
        @Override
        public int compare(String a, String b) {
            return b.length() - a.length();
        }
    }

    @Test
    void smallestComesFirst() {
        RPriorityQueue<Integer> queue = client.getPriorityQueue(key);
        for (int n : List.of(5, 1, 4, 1, 3)) {
            assertTrue(queue.add(n));
        }
        assertEquals(List.of(1, 1, 3, 4, 5), queue.readAll());
        assertEquals(1, queue.peek());
        assertTrue(queue.contains(4));
        assertTrue(queue.remove(4));
        assertEquals(List.of(1, 1), queue.poll(2));
        assertEquals(3, queue.poll());
        assertEquals(5, queue.remove());
        assertNull(queue.poll());
    }

    @Test
    void comparatorIsKeptOnTheServer() {
        RPriorityQueue<String> queue = client.getPriorityQueue(key);
        assertTrue(queue.trySetComparator(new Length()));
        queue.addAll(List.of("aa", "b", "cccc"));
        assertFalse(queue.trySetComparator(Comparator.naturalOrder()));
        RPriorityQueue<String> again = client.getPriorityQueue(key);
        again.add("ddd");
        assertEquals(List.of("cccc", "ddd", "aa", "b"), again.readAll());
    }

    @Test
    void severalWritersKeepTheOrder() throws Exception {
        RPriorityQueue<Integer> queue = client.getPriorityQueue(key);
        List<Future<Void>> writers = new ArrayList<>();
        for (int w = 0; w < 3; w++) {
            int offset = w;
            writers.add(actor().beginStep(() -> {
                for (int i = 9; i >= 0; i--) {
                    queue.add(i * 3 + offset);
                }
            }));
        }
        for (Future<Void> writer : writers) {
            Actor.result(writer);
        }
        for (int i = 0; i < 30; i++) {
            assertEquals(i, queue.poll());
        }
    }

    @Test
    void dequeHasTwoEnds() {
        RPriorityDeque<Integer> deque = client.getPriorityDeque(key);
        deque.addAll(List.of(2, 9, 4));
        assertEquals(9, deque.peekLast());
        assertEquals(2, deque.getFirst());
        List<Integer> down = new ArrayList<>();
        deque.descendingIterator().forEachRemaining(down::add);
        assertEquals(List.of(9, 4, 2), down);
        assertEquals(9, deque.pollLast());
        assertEquals(2, deque.pollFirst());
        assertEquals(4, deque.removeLast());
        assertNull(deque.pollLast());
    }

    @Test
    void takingWaits() throws Exception {
        RPriorityBlockingQueue<Integer> queue = client.getPriorityBlockingQueue(key);
        assertNull(queue.poll(50, TimeUnit.MILLISECONDS));
        Future<Integer> taking = actor().begin(queue::take);
        queue.add(7);
        assertEquals(7, Actor.result(taking));
        RPriorityBlockingDeque<Integer> deque = client.getPriorityBlockingDeque(key + ":deque");
        Future<Integer> last = actor().begin(() -> deque.pollLast(15, TimeUnit.SECONDS));
        deque.add(8);
        assertEquals(8, Actor.result(last));
        deque.addAll(List.of(3, 1, 2));
        assertEquals(3, deque.takeLast());
        assertEquals(1, deque.takeFirst());
    }
}
