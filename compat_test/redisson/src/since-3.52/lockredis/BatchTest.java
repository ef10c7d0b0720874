package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.BatchOptions;
import org.redisson.api.BatchOptions.ExecutionMode;
import org.redisson.api.BatchResult;
import org.redisson.api.RBatch;
import org.redisson.api.RFuture;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.codec.LongCodec;
import org.redisson.client.codec.StringCodec;
import redis.clients.jedis.Jedis;

/**
 * Batches in every execution mode. The client is this scenario's own and sends nothing before a
 * batch: a batch that sends at once was answered in reverse once, perhaps because commands that
 * wait for a connection get it last come, first served.
 */
class BatchTest extends Family {
    private final RedissonClient own = closing(Clients.open(Server.shared()));

    private RBatch batch(ExecutionMode mode) {
        return own.createBatch(BatchOptions.defaults().executionMode(mode));
    }

    @ParameterizedTest
    @EnumSource(ExecutionMode.class)
    void answersAreInTheOrderOfTheCalls(ExecutionMode mode) throws Exception {
        RBatch batch = batch(mode);
        RFuture<Long> number = batch.getAtomicLong(key).incrementAndGetAsync();
        batch.getMap(key + ":map", StringCodec.INSTANCE).putAsync("a", "1");
        RFuture<Object> changed = batch.getMap(key + ":map", StringCodec.INSTANCE).putAsync("a", "2");
        batch.getBucket(key + ":absent").getAsync();
        batch.getScript(LongCodec.INSTANCE).evalAsync(RScript.Mode.READ_WRITE,
                "return redis.call('incrby', KEYS[1], ARGV[1])", RScript.ReturnType.VALUE, List.of(key), 41);
        batch.getList(key + ":list", StringCodec.INSTANCE).addAllAsync(List.of("x", "y"));
        batch.getList(key + ":list", StringCodec.INSTANCE).readAllAsync();
        BatchResult<?> result = batch.execute();
        assertEquals(Arrays.asList(1L, null, "1", null, 42L, true, List.of("x", "y")), result.getResponses());
        assertEquals(1L, number.get());
        assertEquals("1", changed.get());
        assertEquals(0, result.getSyncedSlaves());
        assertEquals(42, own.getAtomicLong(key).get());
    }

    @ParameterizedTest
    @EnumSource(ExecutionMode.class)
    void largeBatchArrivesWhole(ExecutionMode mode) {
        RBatch batch = batch(mode);
        for (int i = 0; i < 3_000; i++) {
            batch.getAtomicLong(key).incrementAndGetAsync();
        }
        List<?> answers = batch.execute().getResponses();
        assertEquals(3_000, answers.size());
        for (int i = 0; i < 3_000; i++) {
            assertEquals(i + 1L, answers.get(i));
        }
    }

    /** An error of one command leaves the others done, in an atomic batch, too: Redis rolls nothing back. */
    @ParameterizedTest
    @EnumSource(ExecutionMode.class)
    void errorOfOneCommandIsThrown(ExecutionMode mode) throws Exception {
        client.getBucket(key, StringCodec.INSTANCE).set("text");
        RBatch batch = batch(mode);
        batch.getBucket(key + ":before", StringCodec.INSTANCE).setAsync("1");
        RFuture<Long> wrong = batch.getAtomicLong(key).incrementAndGetAsync();
        batch.getBucket(key + ":after", StringCodec.INSTANCE).setAsync("2");
        RedisException thrown = assertThrows(RedisException.class, batch::execute);
        assertTrue(thrown.getMessage().contains("ERR value is not an integer"), thrown.getMessage());
        assertTrue(wrong.toCompletableFuture().isCompletedExceptionally());
        Jedis jedis = observer();
        assertEquals(List.of("1", "2"), jedis.mget(key + ":before", key + ":after"));
    }

    /** READ_ATOMIC and WRITE_ATOMIC send at once and hold a MULTI on the server; the others keep what they have. */
    @ParameterizedTest
    @EnumSource(ExecutionMode.class)
    void nothingIsSeenBeforeExecute(ExecutionMode mode) {
        Jedis jedis = observer();
        RBatch batch = batch(mode);
        batch.getBucket(key, StringCodec.INSTANCE).setAsync("v");
        batch.getBucket(key + ":2", StringCodec.INSTANCE).setAsync("v");
        assertNull(jedis.get(key));
        batch.execute();
        assertEquals(List.of("v", "v"), jedis.mget(key, key + ":2"));
        if (mode != ExecutionMode.IN_MEMORY && mode != ExecutionMode.IN_MEMORY_ATOMIC) {
            return; // such a batch is not discarded
        }
        RBatch discarded = batch(mode);
        discarded.getBucket(key, StringCodec.INSTANCE).setAsync("w");
        discarded.discard();
        assertEquals("v", jedis.get(key));
        assertEquals("v", own.getBucket(key, StringCodec.INSTANCE).get());
    }

    @Test
    void atomicBatchIsOneStep() throws Exception {
        Jedis jedis = observer();
        Future<Boolean> torn = actor().begin(() -> {
            for (int i = 0; i < 400; i++) {
                List<String> pair = jedis.mget(key, key + ":2");
                if (!String.valueOf(pair.get(0)).equals(String.valueOf(pair.get(1)))) {
                    return true;
                }
            }
            return false;
        });
        for (int i = 0; !torn.isDone(); i++) {
            RBatch batch = batch(i % 2 == 0 ? ExecutionMode.IN_MEMORY_ATOMIC : ExecutionMode.REDIS_WRITE_ATOMIC);
            batch.getBucket(key, StringCodec.INSTANCE).setAsync("" + i);
            batch.getBucket(key + ":2", StringCodec.INSTANCE).setAsync("" + i);
            batch.execute();
        }
        assertFalse(Actor.result(torn));
    }

    @Test
    void resultsMayBeLeftOut() {
        RBatch batch = own.createBatch(BatchOptions.defaults().skipResult());
        for (int i = 0; i < 100; i++) {
            batch.getAtomicLong(key).incrementAndGetAsync();
        }
        assertEquals(List.of(), batch.execute().getResponses());
        // The connection's replies are on again.
        Await.until("all increments", 5_000, () -> own.getAtomicLong(key).get() == 100);
    }

    /** Nothing replicates here: the batch is done, and no replica has confirmed it. */
    @ParameterizedTest
    @EnumSource(value = ExecutionMode.class, names = {"IN_MEMORY", "IN_MEMORY_ATOMIC"})
    void waitForReplicasEnds(ExecutionMode mode) {
        RBatch batch = own.createBatch(BatchOptions.defaults().executionMode(mode)
                .sync(1, Duration.ofMillis(100)).responseTimeout(10, TimeUnit.SECONDS));
        batch.getAtomicLong(key).incrementAndGetAsync();
        batch.getAtomicLong(key).incrementAndGetAsync();
        BatchResult<?> result = batch.execute();
        assertEquals(List.of(1L, 2L), result.getResponses());
        assertEquals(0, result.getSyncedSlaves());
    }
}
