package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.redisson.api.*;
import org.redisson.api.stream.*;
import org.redisson.client.RedisException;

/** Streams without groups: order, ids, ranges, trimming, blocking reads. */
class StreamTest extends Family {
    private final RStream<String, String> stream = client.getStream(key);

    private static StreamMessageId id(long ms, long seq) {
        return new StreamMessageId(ms, seq);
    }

    private void fill(int entries) {
        for (int i = 1; i <= entries; i++) {
            stream.add(id(i, 0), StreamAddArgs.entry("n", "" + i));
        }
    }

    @Test
    void entriesAreInOrderOfTheirIds() {
        stream.add(id(1, 1), StreamAddArgs.entry("a", "1"));
        stream.add(id(1, 2), StreamAddArgs.entries("a", "2", "b", "3"));
        stream.add(id(5, 0), StreamAddArgs.entry("c", "4"));
        assertEquals(3, stream.size());
        Map<StreamMessageId, Map<String, String>> all = stream.range(StreamMessageId.MIN, StreamMessageId.MAX);
        assertEquals(List.of(id(1, 1), id(1, 2), id(5, 0)), List.copyOf(all.keySet()));
        assertEquals(Map.of("a", "2", "b", "3"), all.get(id(1, 2)));
        assertEquals(List.of(id(5, 0), id(1, 2)),
                List.copyOf(stream.rangeReversed(2, StreamMessageId.MAX, StreamMessageId.MIN).keySet()));
        assertEquals(List.of(id(1, 2)), List.copyOf(stream.range(
                StreamRangeArgs.startIdExclusive(id(1, 1)).endIdExclusive(id(5, 0))).keySet()));
        assertTrue(assertThrows(RedisException.class, () -> stream.add(id(5, 0), StreamAddArgs.entry("x", "y")))
                .getMessage().contains("equal or smaller"));
        StreamMessageId now = stream.add(StreamAddArgs.entry("now", "!"));
        assertTrue(Math.abs(now.getId0() - System.currentTimeMillis()) < 60_000, now.toString());
    }

    @Test
    void infoCountsWhatWasAddedAndDeleted() {
        fill(4);
        assertEquals(2, stream.remove(id(2, 0), id(4, 0), id(9, 9)));
        StreamInfo<String, String> info = stream.getInfo();
        assertEquals(2, info.getLength());
        assertEquals(4, info.getEntriesAdded());
        assertEquals(id(4, 0), info.getMaxDeletedEntryId());
        assertEquals(id(4, 0), info.getLastGeneratedId());
        assertEquals(id(1, 0), info.getRecordedFirstEntryId());
        assertEquals(id(1, 0), info.getFirstEntry().getId());
        assertEquals(Map.of("n", "3"), info.getLastEntry().getData());
        assertEquals(0, info.getGroups());
    }

    @Test
    void trimmingRemovesTheOldest() {
        fill(10);
        assertEquals(3, stream.trim(StreamTrimArgs.maxLen(7).noLimit()));
        assertEquals(2, stream.trim(StreamTrimArgs.minId(id(6, 0)).noLimit()));
        assertEquals(0, stream.trimNonStrict(StreamTrimArgs.maxLen(1).noLimit())); // one chunk: all or nothing
        assertEquals(id(6, 0), stream.getInfo().getFirstEntry().getId());
        stream.add(id(11, 0), StreamAddArgs.<String, String>entry("n", "11").trim().maxLen(2).noLimit());
        assertEquals(List.of(id(10, 0), id(11, 0)),
                List.copyOf(stream.range(StreamMessageId.MIN, StreamMessageId.MAX).keySet()));
        stream.add(id(12, 0), StreamAddArgs.<String, String>entry("n", "12").trim().minId(id(12, 0)).noLimit());
        assertEquals(1, stream.size());
        RStream<String, String> absent = client.getStream(key + ":absent");
        try {
            assertNull(absent.add(StreamAddArgs.<String, String>entry("n", "1").noMakeStream()));
        } catch (RedisException e) {
            // 3.52.0 cannot read that no entry was added.
            assertInstanceOf(NullPointerException.class, e.getCause());
        }
        assertFalse(absent.isExists());
    }

    @Test
    void readStartsBehindAnId() {
        fill(3);
        RStream<String, String> second = client.getStream(key + ":2");
        second.add(id(7, 7), StreamAddArgs.entry("x", "y"));
        assertEquals(List.of(id(2, 0), id(3, 0)),
                List.copyOf(stream.read(StreamReadArgs.greaterThan(id(1, 0))).keySet()));
        assertEquals(List.of(id(1, 0)),
                List.copyOf(stream.read(StreamReadArgs.greaterThan(StreamMessageId.ALL).count(1)).keySet()));
        Map<String, Map<StreamMessageId, Map<String, String>>> both = stream.read(
                StreamMultiReadArgs.greaterThan(id(2, 0), second.getName(), StreamMessageId.ALL));
        assertEquals(Map.of(key, Map.of(id(3, 0), Map.of("n", "3")),
                second.getName(), Map.of(id(7, 7), Map.of("x", "y"))), both);
    }

    @Test
    void readWaitsForANewEntry() throws Exception {
        fill(1);
        long start = System.nanoTime();
        assertEquals(Map.of(), stream.read(
                StreamReadArgs.greaterThan(StreamMessageId.NEWEST).timeout(Duration.ofMillis(150))));
        assertTrue(System.nanoTime() - start >= 140_000_000);
        List<Future<Map<StreamMessageId, Map<String, String>>>> readers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            readers.add(actor().begin(() -> stream.read(
                    StreamReadArgs.greaterThan(id(1, 0)).timeout(Duration.ofSeconds(20)))));
        }
        stream.add(id(2, 0), StreamAddArgs.entry("n", "2"));
        for (var reader : readers) {
            assertEquals(Map.of(id(2, 0), Map.of("n", "2")), Actor.result(reader));
        }
    }
}
