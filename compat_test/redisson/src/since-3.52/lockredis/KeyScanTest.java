package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.RKeys;
import org.redisson.api.RMap;
import org.redisson.api.RSet;
import org.redisson.api.RType;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.KeysScanOptions;
import org.redisson.client.codec.StringCodec;

/** SCAN and its relatives through Redisson's iterators, on a server of its own. */
class KeyScanTest extends Family {
    private static final Server OWN = Server.start();
    private final RedissonClient alone = closing(Clients.open(OWN, config -> config.setCodec(StringCodec.INSTANCE)));
    private final RKeys keys = alone.getKeys();

    @AfterAll
    static void stop() {
        OWN.close();
    }

    private static Set<String> numbered(String prefix, int n) {
        return IntStream.range(0, n).mapToObj(i -> prefix + i).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void keysAreScannedByPatternTypeAndLimit() {
        keys.flushall();
        Map<String, String> many = numbered("s:", 150).stream().collect(Collectors.toMap(k -> k, k -> k));
        alone.getBuckets().set(many);
        for (int i = 0; i < 40; i++) {
            alone.getSet("set:" + i).add("x");
        }
        alone.getStream("stream").createGroup(org.redisson.api.stream.StreamCreateGroupArgs.name("g").makeStream());
        assertEquals(numbered("set:", 40), collect(keys.getKeys(KeysScanOptions.defaults().type(RType.SET).chunkSize(7))));
        assertEquals(numbered("s:", 150), collect(keys.getKeys(KeysScanOptions.defaults().pattern("s:*").chunkSize(3))));
        assertEquals(Set.of(), collect(keys.getKeys(KeysScanOptions.defaults().pattern("s:*").type(RType.ZSET))));
        assertEquals(12, collect(keys.getKeys(KeysScanOptions.defaults().limit(12))).size());
        assertEquals(191, keys.getKeysStream(20).distinct().count());
        assertEquals(11, keys.getKeysStreamByPattern("s:12*").count());
        assertEquals(11, keys.unlinkByPattern("s:12*"));
        assertEquals(180, keys.count());
        assertTrue(keys.expire("s:2", 60, TimeUnit.SECONDS));
        assertFalse(keys.expire("absent", 60, TimeUnit.SECONDS));
        assertTrue(keys.remainTimeToLive("s:2") > 50_000);
        alone.getBucket(key).set("far");
        keys.copy(key, Server.shared().host(), Server.shared().port(), 0, 5_000); // MIGRATE with COPY
        assertEquals("far", observer().get(key));
        assertEquals(1, keys.delete(key));
        alone.getBucket("s:1").set("moved");
        assertTrue(keys.move("s:1", 5));
        assertEquals(150 - 11 - 2, keys.delete(numbered("s:", 150).stream()
                .filter(k -> !k.equals("s:2")).toArray(String[]::new)));
        keys.swapdb(0, 5);
        assertEquals(List.of("s:1"), List.copyOf(collect(keys.getKeys())));
    }

    private static Set<String> collect(Iterable<String> found) {
        Set<String> all = new TreeSet<>();
        found.forEach(all::add);
        return all;
    }

    @Test
    void iteratorsSeeAllThatStays() {
        RSet<String> set = alone.getSet(key);
        set.addAll(numbered("m", 600));
        Set<String> met = new TreeSet<>();
        for (Iterator<String> it = set.iterator(20); it.hasNext();) {
            String member = it.next();
            met.add(member);
            if (member.endsWith("7")) {
                it.remove();
            } else if (member.endsWith("5")) {
                set.add("new" + member);
            }
        }
        assertTrue(met.containsAll(numbered("m", 600)));
        assertFalse(set.contains("m137"));
        assertEquals(numbered("m3", 10).stream().filter(m -> !m.endsWith("7")).collect(Collectors.toSet()),
                set.stream("m3?").collect(Collectors.toSet()));
        RMap<String, String> map = alone.getMap(key + ":map");
        map.putAll(numbered("k", 600).stream().collect(Collectors.toMap(k -> k, k -> "v" + k)));
        assertEquals(111, map.keySet("k1*").stream().distinct().count());
        assertEquals(11, map.values("k20*").stream().distinct().count());
        assertEquals(600, map.entrySet(25).stream().filter(e -> e.getValue().equals("v" + e.getKey()))
                .map(Map.Entry::getKey).distinct().count());
    }

    /** Two iterators of one name share their place on the server. */
    @Test
    void distributedIteratorsShareTheMembers() {
        RSet<String> set = alone.getSet(key);
        set.addAll(numbered("m", 300));
        Iterator<String> one = set.distributedIterator("{" + key + "}:it", null, 10);
        Iterator<String> two = set.distributedIterator("{" + key + "}:it", null, 10);
        List<String> met = new ArrayList<>();
        while (one.hasNext() || two.hasNext()) {
            if (one.hasNext()) {
                met.add(one.next());
            }
            if (two.hasNext()) {
                met.add(two.next());
            }
        }
        assertEquals(numbered("m", 300), new TreeSet<>(met));
        assertTrue(met.size() < 330, met.size() + " members, some of them twice");
    }
}
