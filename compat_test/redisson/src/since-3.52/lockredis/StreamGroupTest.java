package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.*;
import org.redisson.api.stream.*;
import org.redisson.client.RedisException;

/** Consumer groups of a stream: what is delivered, pending, claimed and acknowledged. */
class StreamGroupTest extends Family {
    private final RStream<String, String> stream = client.getStream(key);

    private static StreamMessageId id(long ms) {
        return new StreamMessageId(ms, 0);
    }

    private Map<StreamMessageId, Map<String, String>> read(String consumer, int count) {
        return stream.readGroup("g", consumer, StreamReadGroupArgs.neverDelivered().count(count));
    }

    private List<StreamMessageId> pendingOf(String consumer) {
        return stream.listPending("g", consumer, StreamMessageId.MIN, StreamMessageId.MAX, 100).stream()
                .map(PendingEntry::getId).toList();
    }

    @BeforeEach
    void groupWithFourEntries() {
        stream.createGroup(StreamCreateGroupArgs.name("g").id(StreamMessageId.ALL).makeStream());
        for (int i = 1; i <= 4; i++) {
            stream.add(id(i), StreamAddArgs.entry("n", "" + i));
        }
    }

    @Test
    void consumersShareTheEntries() {
        assertEquals(Map.of(id(1), Map.of("n", "1"), id(2), Map.of("n", "2")), read("a", 2));
        assertEquals(List.of(id(3)), List.copyOf(read("b", 1).keySet()));
        PendingResult pending = stream.getPendingInfo("g");
        assertEquals(3, pending.getTotal());
        assertEquals(id(1), pending.getLowestId());
        assertEquals(id(3), pending.getHighestId());
        assertEquals(Map.of("a", 2L, "b", 1L), pending.getConsumerNames());
        assertEquals(List.of(id(1), id(2)), pendingOf("a"));
        assertEquals(1, stream.ack("g", id(1), id(4)));
        assertEquals(List.of(id(2)), pendingOf("a"));
        // A consumer's history, which does not move the group on.
        assertEquals(Map.of(id(2), Map.of("n", "2")),
                stream.readGroup("g", "a", StreamReadGroupArgs.greaterThan(StreamMessageId.ALL)));
        assertEquals(Map.of(id(3), Map.of("n", "3")),
                stream.pendingRange("g", "b", StreamMessageId.MIN, StreamMessageId.MAX, 10));
        assertEquals(List.of(id(4)), List.copyOf(read("b", 10).keySet()));
        assertEquals(Map.of(), read("b", 10));
        assertEquals(2, stream.removeConsumer("g", "b"));
        assertEquals(1, stream.getPendingInfo("g").getTotal());
    }

    @Test
    void noAckDeliversOnceAndKeepsNothing() {
        assertEquals(4, stream.readGroup("g", "a", StreamReadGroupArgs.neverDelivered().noAck()).size());
        assertEquals(0, stream.getPendingInfo("g").getTotal());
        stream.updateGroupMessageId("g", id(2));
        assertEquals(List.of(id(3), id(4)), List.copyOf(read("a", 9).keySet()));
    }

    @Test
    void idleEntriesAreClaimed() {
        read("a", 3);
        assertEquals(Map.of(), stream.claim("g", "b", 1, TimeUnit.HOURS, id(1)));
        Await.elapse(20);
        assertEquals(Map.of(id(1), Map.of("n", "1")), stream.claim("g", "b", 10, TimeUnit.MILLISECONDS, id(1)));
        assertEquals(List.of(id(2)), stream.fastClaim("g", "c", 0, TimeUnit.MILLISECONDS, id(2)));
        assertEquals(Map.of("a", 1L, "b", 1L, "c", 1L), stream.getPendingInfo("g").getConsumerNames());
        assertEquals(List.of(), stream.listPending("g", StreamMessageId.MIN, StreamMessageId.MAX, 1, TimeUnit.HOURS, 9));
        PendingEntry claimed = stream.listPending("g", "b", StreamMessageId.MIN, StreamMessageId.MAX, 9).get(0);
        assertEquals("b", claimed.getConsumerName());
        assertTrue(claimed.getIdleTime() < 20_000, claimed.toString());
    }

    @Test
    void autoClaimGoesOnWhereItEnded() {
        read("a", 4);
        stream.remove(id(2));
        AutoClaimResult<String, String> first = stream.autoClaim("g", "b", 0, TimeUnit.MILLISECONDS,
                StreamMessageId.MIN, 2);
        assertEquals(Map.of(id(1), Map.of("n", "1")), first.getMessages());
        assertEquals(List.of(id(2)), first.getDeletedIds());
        assertEquals(id(3), first.getNextId());
        FastAutoClaimResult rest = stream.fastAutoClaim("g", "c", 0, TimeUnit.MILLISECONDS, first.getNextId(), 10);
        assertEquals(List.of(id(3), id(4)), rest.getIds());
        assertEquals(id(0), rest.getNextId());
        assertEquals(Map.of("b", 1L, "c", 2L), stream.getPendingInfo("g").getConsumerNames());
    }

    @Test
    void groupsAndConsumersAreListed() {
        stream.createConsumer("g", "idle");
        stream.createGroup(StreamCreateGroupArgs.name("late").id(StreamMessageId.NEWEST));
        read("a", 3);
        List<StreamGroup> groups = stream.listGroups();
        assertEquals(List.of("g", "late"), groups.stream().map(StreamGroup::getName).toList());
        StreamGroup g = groups.get(0);
        assertEquals(2, g.getConsumers());
        assertEquals(3, g.getPending());
        assertEquals(id(3), g.getLastDeliveredId());
        assertEquals(3, g.getEntriesRead());
        assertEquals(1, g.getLag());
        assertEquals(id(4), groups.get(1).getLastDeliveredId());
        List<StreamConsumer> consumers = stream.listConsumers("g");
        assertEquals(List.of("a 3", "idle 0"),
                consumers.stream().map(c -> c.getName() + " " + c.getPending()).sorted().toList());
        assertTrue(consumers.stream().allMatch(c -> c.getIdleTime() < 20_000));
        assertTrue(assertThrows(RedisException.class, () -> stream.createGroup(StreamCreateGroupArgs.name("g")))
                .getMessage().startsWith("BUSYGROUP"));
        stream.removeGroup("g");
        assertTrue(assertThrows(RedisException.class, () -> read("a", 1)).getMessage().startsWith("NOGROUP"));
    }

    @Test
    void oneWaitingConsumerGetsANewEntry() throws Exception {
        read("a", 4);
        Future<Map<StreamMessageId, Map<String, String>>> one = actor().begin(() -> waitAs("b"));
        Future<Map<StreamMessageId, Map<String, String>>> two = actor().begin(() -> waitAs("c"));
        stream.add(id(5), StreamAddArgs.entry("n", "5"));
        Await.until("one reader", 10_000, () -> one.isDone() || two.isDone());
        stream.add(id(6), StreamAddArgs.entry("n", "6"));
        assertEquals(List.of(id(5), id(6)), List.of(Actor.result(one), Actor.result(two)).stream()
                .flatMap(entries -> entries.keySet().stream()).sorted((x, y) -> Long.compare(x.getId0(), y.getId0()))
                .toList());
        RStream<String, String> second = client.getStream(key + ":2");
        second.createGroup(StreamCreateGroupArgs.name("g").makeStream());
        second.add(id(1), StreamAddArgs.entry("x", "y"));
        assertEquals(Map.of(second.getName(), Map.of(id(1), Map.of("x", "y"))), stream.readGroup("g", "a",
                StreamMultiReadGroupArgs.greaterThan(StreamMessageId.NEVER_DELIVERED, second.getName(),
                        StreamMessageId.NEVER_DELIVERED)));
    }

    private Map<StreamMessageId, Map<String, String>> waitAs(String consumer) {
        return stream.readGroup("g", consumer,
                StreamReadGroupArgs.neverDelivered().count(1).timeout(Duration.ofSeconds(20)));
    }
}
