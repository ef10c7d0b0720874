package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.api.RReliableTopic;
import org.redisson.api.RedissonClient;

/** A topic over a stream: every subscriber receives every message, in order. */
class ReliableTopicTest extends Family {
    private final RReliableTopic topic = client.getReliableTopic(key);

    private static Queue<String> listen(RReliableTopic topic) {
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        topic.addListener(String.class, (channel, message) -> heard.add(message));
        return heard;
    }

    @Test
    void everySubscriberReceivesEveryMessageInOrder() {
        RedissonClient other = closing(Clients.open(Server.shared()));
        RReliableTopic there = other.getReliableTopic(key);
        Queue<String> here = listen(topic);
        Queue<String> elsewhere = listen(there);
        assertEquals(2, topic.countSubscribers());
        assertEquals(1, topic.countListeners());
        List<String> sent = IntStream.range(0, 40).mapToObj(i -> "m" + i).toList();
        assertEquals(2, topic.publish(sent.get(0)));
        sent.subList(1, 40).forEach(there::publish);
        Await.until("all messages here", 10_000, () -> here.size() == 40);
        Await.until("all messages there", 10_000, () -> elsewhere.size() == 40);
        assertEquals(sent, List.copyOf(here));
        assertEquals(sent, List.copyOf(elsewhere));
        there.removeAllListeners();
        Await.until("one subscriber", 10_000, () -> topic.countSubscribers() == 1);
        topic.publish("last");
        Await.until("the last message", 10_000, () -> here.size() == 41);
        assertEquals(40, elsewhere.size());
        topic.removeAllListeners();
    }

    @Test
    void messagesWithoutASubscriberAreNotKept() {
        assertEquals(0, topic.publish("nobody hears this"));
        String id = topic.addListener(String.class, (channel, message) -> { });
        assertEquals(1, topic.countSubscribers());
        assertEquals(1, topic.publish("x"));
        Await.until("the acknowledged message leaves", 10_000, () -> topic.size() == 0);
        topic.removeListener(id);
        Await.until("no subscriber", 10_000, () -> topic.countSubscribers() == 0);
        assertEquals(0, topic.countListeners());
        assertTrue(topic.size() <= 1);
    }
}
