package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.api.BatchResult;
import org.redisson.api.RBatch;
import org.redisson.api.RLock;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.client.RedisException;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;

/** useClusterServers with three masters. */
@OnCluster
class SeveralNodesOnClusterTest {
    /** Keys of the three nodes. */
    private static final List<String> KEYS = List.of("b", "c", "a");
    private static final int SLOT_OF_B = 3300;
    private static final long LEASE_MS = 60_000;
    private static RedissonClient client;
    private static RedissonClient other;
    private final Actor actor = new Actor();

    @BeforeAll
    static void connect() {
        client = open(0);
        other = open(2);
    }

    /** With long leases: a watchdog loses a short one while it does not know yet that the slot has moved. */
    private static RedissonClient open(int node) {
        return Clients.open(Server.nodes().get(node), config -> Api.watchdog(config, LEASE_MS));
    }

    @AfterAll
    static void disconnect() {
        if (client != null) {
            Clients.close(client);
            Clients.close(other);
        }
    }

    @AfterEach
    void flush() {
        actor.close();
        for (Server node : Server.nodes()) {
            try (Jedis jedis = node.observe()) {
                jedis.flushAll();
            }
        }
    }

    @Test
    void allMastersAreSeen() {
        assertEquals(3, client.getRedisNodes(RedisNodes.CLUSTER).getMasters().size());
    }

    @Test
    void locksOfAllNodesExcludeOtherClients() throws Exception {
        for (String key : KEYS) {
            for (RLock[] pair : List.of(
                    new RLock[] {client.getLock(key), other.getLock(key)},
                    new RLock[] {client.getFairLock("{" + key + "}fair"), other.getFairLock("{" + key + "}fair")},
                    new RLock[] {client.getReadWriteLock("{" + key + "}rw").writeLock(),
                        other.getReadWriteLock("{" + key + "}rw").readLock()})) {
                pair[0].lock();
                assertFalse(actor.ask(() -> pair[1].tryLock()), pair[1]::getName);
                pair[0].unlock();
                assertTrue(actor.ask(() -> pair[1].tryLock()), pair[1]::getName);
                actor.tell(pair[1]::unlock);
                assertFalse(pair[0].isLocked());
            }
        }
    }

    @Test
    void aWaiterAtAnyNodeIsWoken() throws Exception {
        for (String key : KEYS) {
            RLock held = client.getLock(key);
            held.lock();
            Future<Boolean> waiter = actor.begin(() -> other.getLock(key).tryLock(30, TimeUnit.SECONDS));
            Await.until("the waiter's subscription", 20_000, () -> subscribed("{" + key + "}"));
            held.unlock();
            assertTrue(Actor.result(waiter), key);
            actor.tell(() -> other.getLock(key).unlock());
        }
    }

    @Test
    void aMessageReachesListenersAtAllNodes() {
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        for (String key : KEYS) {
            Api.subscribe(client, key, heard::add);
            Api.subscribe(other, key, heard::add);
        }
        for (String key : KEYS) {
            Api.publish(client, key, "m");
        }
        Await.until("a message of each topic at both clients", 5_000, () -> heard.size() == 2 * KEYS.size());
        for (String key : KEYS) {
            Api.unsubscribeAll(client, key);
            Api.unsubscribeAll(other, key);
        }
    }

    @Test
    void aBatchHasKeysOfAllNodes() {
        RBatch batch = client.createBatch();
        for (String key : KEYS) {
            batch.getBucket(key).setAsync(key + "!");
            batch.getBucket(key).getAsync();
        }
        BatchResult<?> result = batch.execute();
        assertEquals("b!", result.getResponses().get(1));
        assertEquals("a!", result.getResponses().get(5));
    }

    @Test
    void keysOfSeveralSlotsAreRefused() {
        Exception refused = assertThrows(RedisException.class, () -> client.getScript().eval(
                RScript.Mode.READ_WRITE, "return KEYS[1]", RScript.ReturnType.VALUE, List.of("a", "b")));
        assertTrue(refused.getMessage().startsWith("CROSSSLOT"), refused.getMessage());
    }

    @Test
    void aHeldLockMovesWithItsSlot() throws Exception {
        RLock held = client.getLock("b");
        held.lock();
        move(0, 1);
        assertTrue(held.isHeldByCurrentThread());
        assertTrue(held.remainTimeToLive() > 0);
        assertFalse(actor.ask(() -> other.getLock("b").tryLock()));
        held.unlock();
        assertTrue(actor.ask(() -> other.getLock("b").tryLock()));
        actor.tell(() -> other.getLock("b").unlock());
        assertFalse(held.isLocked());
        move(1, 0);
        held.lock();
        held.unlock();
    }

    /** Whether a client has subscribed to a channel with this text in its name, at any node. */
    private static boolean subscribed(String text) {
        for (Server node : Server.nodes()) {
            try (Jedis jedis = node.observe()) {
                List<String> names = new ArrayList<>(jedis.pubsubChannels("*"));
                for (Object name : (List<?>) jedis.sendCommand(Protocol.Command.PUBSUB, "SHARDCHANNELS")) {
                    names.add(new String((byte[]) name)); // releases from 3.23 on subscribe so
                }
                if (names.stream().anyMatch(name -> name.contains(text))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Moves the slot of "b", as redis-cli --cluster reshard does. */
    private static void move(int source, int target) {
        try (Jedis from = Server.nodes().get(source).observe(); Jedis to = Server.nodes().get(target).observe()) {
            String fromId = id(from);
            String toId = id(to);
            setSlot(to, "IMPORTING", fromId);
            setSlot(from, "MIGRATING", toId);
            for (String key : from.clusterGetKeysInSlot(SLOT_OF_B, 100)) {
                from.migrate("127.0.0.1", Server.nodes().get(target).port(), key, 0, 5_000);
            }
            setSlot(to, "NODE", toId);
            setSlot(from, "NODE", toId);
        }
    }

    private static void setSlot(Jedis jedis, String state, String id) {
        jedis.sendCommand(Protocol.Command.CLUSTER, "SETSLOT", String.valueOf(SLOT_OF_B), state, id);
    }

    private static String id(Jedis jedis) {
        return new String((byte[]) jedis.sendCommand(Protocol.Command.CLUSTER, "MYID"));
    }
}
