package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** Topics and patterns. A listener that matches twice receives a message twice. */
class TopicTest extends Scenario {
    private final Queue<String> heard = new ConcurrentLinkedQueue<>();

    @Test
    void everyMessageArrivesOnce() {
        Api.subscribe(client, key, heard::add);
        TreeSet<String> sent = new TreeSet<>();
        for (int i = 0; i < 200; i++) {
            Api.publish(client, key, "m" + i);
            sent.add("m" + i);
        }
        Await.until("all messages", 5_000, () -> heard.size() == sent.size());
        // Some releases call the listener on several threads, so the order there means nothing.
        assertEquals(sent, new TreeSet<>(heard));
        Api.unsubscribeAll(client, key);
        Jedis jedis = observer();
        Await.until("the end of the subscription", 5_000, () -> Channels.subscribers(jedis, key) == 0);
    }

    @Test
    void everyMatchingPatternDelivers() {
        Api.subscribe(client, key + ":news", message -> heard.add("topic " + message));
        Api.psubscribe(client, key + ":*", (channel, message) -> heard.add("star " + message));
        Api.psubscribe(client, key + ":n[a-f]ws", (channel, message) -> heard.add("class " + message));
        Api.psubscribe(client, key + ":no?", (channel, message) -> heard.add("wrong " + message));
        Api.publish(client, key + ":news", "x");
        Await.until("three messages", 5_000, () -> heard.size() >= 3);
        assertEquals(List.of("class x", "star x", "topic x"), heard.stream().sorted().toList());
        Api.punsubscribeAll(client, key + ":*");
        Api.publish(client, key + ":news", "y");
        Await.until("two more messages", 5_000, () -> heard.size() >= 5);
        assertEquals(2, heard.stream().filter(line -> line.endsWith("y")).count());
        Api.unsubscribeAll(client, key + ":news");
        Api.punsubscribeAll(client, key + ":n[a-f]ws");
        Api.punsubscribeAll(client, key + ":no?");
    }
}
