package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RLock;
import org.redisson.api.RScript;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;

/** What useClusterServers asks of a cluster besides the locks. */
@OnCluster
class ClusterTest extends Scenario {
    private final RScript script = client.getScript(StringCodec.INSTANCE);

    @Test
    void hashTagPutsTheKeysOfAMultiLockIntoOneSlot() {
        String[] names = {"{" + key + "}:1", "{" + key + "}:2"};
        RLock one = client.getLock(names[0]);
        RLock two = client.getLock(names[1]);
        RedissonMultiLock both = new RedissonMultiLock(one, two);
        both.lock();
        assertEquals(2, observer().exists(names));
        assertEquals(client.getKeys().getSlot(names[0]), client.getKeys().getSlot(names[1]));
        assertEquals("2", script.eval(RScript.Mode.READ_WRITE,
                "return tostring(redis.call('exists', KEYS[1], KEYS[2]))", RScript.ReturnType.VALUE, List.of(names)));
        both.unlock();
        assertFalse(one.isLocked() || two.isLocked());
    }

    @Test
    void scriptWithKeysOfTwoSlotsIsRefused() {
        Exception refused = assertThrows(RedisException.class, () -> script.eval(RScript.Mode.READ_WRITE,
                "return KEYS[1]", RScript.ReturnType.VALUE, List.of("a", "b")));
        assertTrue(refused.getMessage().startsWith("CROSSSLOT"), refused.getMessage());
    }

    @Test
    void everyNodeIsTheOneMaster() {
        assertEquals(1, client.getRedisNodes(RedisNodes.CLUSTER).getMasters().size());
    }
}
