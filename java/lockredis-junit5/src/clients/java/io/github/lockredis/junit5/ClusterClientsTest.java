package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.pubsub.RedisClusterPubSubAdapter;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.JedisShardedPubSub;
import redis.clients.jedis.params.SetParams;

/** Jedis and Lettuce on a cluster of three nodes. */
class ClusterClientsTest {
    /** Names whose slots are at the first, the second and the third node. */
    private static final String[] NAMES = {"b", "c", "a"};
    private static final String RELEASE =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

    @Nested
    @Lockredis(topology = Topology.CLUSTER, nodes = 3)
    class WithJedis extends Behaviour {
        @Override
        Client connect(LockredisTopology topology) {
            return new Jedis(topology);
        }
    }

    @Nested
    @Lockredis(topology = Topology.CLUSTER, nodes = 3)
    class WithLettuce extends Behaviour {
        @Override
        Client connect(LockredisTopology topology) {
            return new Lettuce(topology);
        }
    }

    /** What each client does. It is told the address of the second node only. */
    abstract static class Behaviour {
        private LockredisTopology topology;
        private Client client;

        abstract Client connect(LockredisTopology topology);

        @BeforeEach
        void connectToTheCluster(LockredisTopology topology) {
            this.topology = topology;
            client = connect(topology);
        }

        @AfterEach
        void disconnect() {
            client.close();
        }

        @Test
        void keysReachAllNodes() {
            for (int i = 0; i < 300; i++) {
                client.set("key:" + i, "v" + i);
            }
            long keys = 0;
            for (LockredisServer node : topology.servers()) {
                long has = (long) node.command("DBSIZE");
                assertTrue(has > 0, node.toString());
                keys += has;
            }
            assertEquals(300, keys);
            for (int i = 0; i < 300; i++) {
                assertEquals("v" + i, client.get("key:" + i));
            }
        }

        /** The client learns of the move from the errors of the first node only. */
        @Test
        void aSlotThatMovesIsFollowed() {
            String slot = "3168"; // of the key f
            LockredisServer from = topology.node(0);
            LockredisServer to = topology.node(1);
            String fromId = from.command("CLUSTER", "MYID").toString();
            String toId = to.command("CLUSTER", "MYID").toString();
            from.command("CONFIG", "RESETSTAT");
            client.set("f", "v");
            to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", fromId);
            from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", toId);
            from.command("MIGRATE", to.host(), String.valueOf(to.port()), "f", "0", "5000");
            assertEquals("v", client.get("f"));
            assertTrue(errors(from).contains("errorstat_ASK:"), errors(from));
            to.command("CLUSTER", "SETSLOT", slot, "NODE", toId);
            from.command("CLUSTER", "SETSLOT", slot, "NODE", toId);
            assertEquals("v", client.get("f"));
            assertTrue(errors(from).contains("errorstat_MOVED:"), errors(from));
        }

        private static String errors(LockredisServer node) {
            return node.command("INFO", "errorstats").toString();
        }

        @Test
        void aShardedChannelOfEachNodeIsHeard() throws InterruptedException {
            for (String channel : NAMES) {
                BlockingQueue<String> heard = client.subscribe(channel);
                client.publish(channel, "news of " + channel);
                assertEquals("news of " + channel, heard.take());
            }
        }

        @Test
        void aLockOfEachNodeHasOneOwner() {
            for (int i = 0; i < NAMES.length; i++) {
                assertTrue(client.acquire(NAMES[i], "one"));
                assertFalse(client.acquire(NAMES[i], "two"));
                assertEquals("one", topology.node(i).command("GET", NAMES[i]));
                assertEquals(0, client.run(RELEASE, NAMES[i], "two"));
                assertEquals(1, client.run(RELEASE, NAMES[i], "one"));
                assertTrue(client.acquire(NAMES[i], "two"));
                assertEquals(1, client.run(RELEASE, NAMES[i], "two"));
            }
        }

        @Test
        void theOthersServeDuringAnOutageAndTheNodeAfterIt() {
            for (LockredisServer node : topology.servers()) {
                node.command("CONFIG", "SET", "cluster-require-full-coverage", "no");
            }
            client.set("a", "old");
            topology.node(2).stop();
            client.set("b", "v");
            client.set("c", "v");
            topology.node(2).restart();
            client.set("a", "new");
            assertEquals("new", topology.node(2).command("GET", "a"));
            assertEquals("v", client.get("b"));
        }
    }

    /** What the tests need of a client. */
    private interface Client extends AutoCloseable {
        void set(String key, String value);

        String get(String key);

        /** Sets a key that does not exist, for a minute, and returns whether it did not exist. */
        boolean acquire(String key, String value);

        long run(String script, String key, String value);

        /** Returns the messages of a sharded channel, once it is subscribed to. */
        BlockingQueue<String> subscribe(String channel);

        void publish(String channel, String message);

        @Override
        void close();
    }

    private static final class Jedis implements Client {
        private final JedisCluster cluster;
        private final Map<JedisShardedPubSub, CompletableFuture<Void>> subscriptions = new HashMap<>();

        Jedis(LockredisTopology topology) {
            cluster = new JedisCluster(
                    Collections.singleton(new HostAndPort(topology.node(1).host(), topology.node(1).port())),
                    DefaultJedisClientConfig.builder().timeoutMillis(60000).build());
        }

        @Override
        public void set(String key, String value) {
            cluster.set(key, value);
        }

        @Override
        public String get(String key) {
            return cluster.get(key);
        }

        @Override
        public boolean acquire(String key, String value) {
            return cluster.set(key, value, new SetParams().nx().px(60000)) != null;
        }

        @Override
        public long run(String script, String key, String value) {
            return (long) cluster.eval(script, Collections.singletonList(key), Collections.singletonList(value));
        }

        @Override
        public BlockingQueue<String> subscribe(String channel) {
            BlockingQueue<String> heard = new LinkedBlockingQueue<>();
            CompletableFuture<Void> subscribed = new CompletableFuture<>();
            JedisShardedPubSub subscription = new JedisShardedPubSub() {
                @Override
                public void onSMessage(String from, String message) {
                    heard.add(message);
                }

                @Override
                public void onSSubscribe(String to, int count) {
                    subscribed.complete(null);
                }
            };
            CompletableFuture<Void> ended = CompletableFuture.runAsync(
                    () -> cluster.ssubscribe(subscription, channel), listener -> new Thread(listener).start());
            CompletableFuture.anyOf(subscribed, ended).join(); // it ends early with an error only
            subscriptions.put(subscription, ended);
            return heard;
        }

        @Override
        public void publish(String channel, String message) {
            cluster.spublish(channel, message);
        }

        @Override
        public void close() {
            subscriptions.forEach((subscription, ended) -> {
                subscription.sunsubscribe();
                ended.join();
            });
            cluster.close();
        }
    }

    private static final class Lettuce implements Client {
        private final RedisClusterClient client;
        private final StatefulRedisClusterConnection<String, String> connection;

        Lettuce(LockredisTopology topology) {
            client = RedisClusterClient.create("redis://" + topology.nodes().get(1));
            connection = client.connect();
        }

        @Override
        public void set(String key, String value) {
            connection.sync().set(key, value);
        }

        @Override
        public String get(String key) {
            return connection.sync().get(key);
        }

        @Override
        public boolean acquire(String key, String value) {
            return connection.sync().set(key, value, SetArgs.Builder.nx().px(60000)) != null;
        }

        @Override
        public long run(String script, String key, String value) {
            return connection.sync().<Long>eval(script, ScriptOutputType.INTEGER, new String[] {key}, value);
        }

        @Override
        public BlockingQueue<String> subscribe(String channel) {
            BlockingQueue<String> heard = new LinkedBlockingQueue<>();
            CompletableFuture<Void> subscribed = new CompletableFuture<>();
            StatefulRedisClusterPubSubConnection<String, String> subscription = client.connectPubSub();
            subscription.addListener(new RedisClusterPubSubAdapter<String, String>() {
                @Override
                public void smessage(RedisClusterNode node, String from, String message) {
                    heard.add(message);
                }

                @Override
                public void ssubscribed(RedisClusterNode node, String to, long count) {
                    subscribed.complete(null);
                }
            });
            subscription.sync().ssubscribe(channel);
            subscribed.join();
            return heard;
        }

        @Override
        public void publish(String channel, String message) {
            connection.sync().spublish(channel, message);
        }

        @Override
        public void close() {
            client.shutdown();
        }
    }
}
