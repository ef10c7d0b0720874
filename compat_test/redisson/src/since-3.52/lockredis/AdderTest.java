package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.redisson.api.RDoubleAdder;
import org.redisson.api.RIdGenerator;
import org.redisson.api.RLongAdder;
import org.redisson.api.RedissonClient;

/** Adders, which sum up over a topic what each client counted, and the id generator. */
class AdderTest extends Family {
    private final RedissonClient other = closing(Clients.open(Server.shared()));

    @Test
    void longsOfAllClientsAreSummed() {
        RLongAdder here = client.getLongAdder(key);
        RLongAdder there = other.getLongAdder(key);
        here.add(5);
        here.increment();
        there.add(100);
        there.decrement();
        assertEquals(105, here.sum());
        assertEquals(105, there.sum());
        here.reset();
        assertEquals(0, there.sum());
        there.add(3);
        assertEquals(3, here.sum());
        there.destroy();
        assertEquals(0, here.sum());
        here.destroy();
    }

    @Test
    void doublesOfAllClientsAreSummed() {
        RDoubleAdder here = client.getDoubleAdder(key);
        RDoubleAdder there = other.getDoubleAdder(key);
        here.add(0.25);
        there.add(1.5);
        there.increment();
        assertEquals(2.75, here.sum());
        there.reset();
        assertEquals(0, here.sum());
        here.destroy();
        there.destroy();
    }

    @Test
    void idsAreUniqueAndComeInBlocks() throws Exception {
        RIdGenerator ids = client.getIdGenerator(key);
        assertTrue(ids.tryInit(10, 25));
        assertFalse(ids.tryInit(1, 1));
        RIdGenerator there = other.getIdGenerator(key);
        assertEquals(10, ids.nextId());
        assertEquals(35, there.nextId()); // the next block
        assertEquals(11, ids.nextId());
        List<Future<List<Long>>> takers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            RIdGenerator from = i % 2 == 0 ? ids : there;
            takers.add(actor().begin(() -> {
                List<Long> taken = new ArrayList<>();
                for (int n = 0; n < 60; n++) {
                    taken.add(from.nextId());
                }
                return taken;
            }));
        }
        Set<Long> all = new HashSet<>();
        for (Future<List<Long>> taker : takers) {
            all.addAll(Actor.result(taker));
        }
        assertEquals(240, all.size());
        ids.delete();
    }
}
