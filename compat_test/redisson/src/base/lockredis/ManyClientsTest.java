package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import redis.clients.jedis.Jedis;

/** A hundred clients of 25 sockets each on one server and one lock. They share threads, not connections. */
class ManyClientsTest extends Scenario {
    private static final int CLIENTS = 100;
    private static final int SOCKETS = 24;

    @Test
    void hundredClientsCountExactly() throws Exception {
        EventLoopGroup loops = new NioEventLoopGroup(8);
        ExecutorService threads = Executors.newFixedThreadPool(16);
        ExecutorService owners = Executors.newFixedThreadPool(CLIENTS);
        ConcurrentLinkedQueue<RedissonClient> clients = new ConcurrentLinkedQueue<>();
        try {
            connect(loops, threads, owners, clients);
            Jedis jedis = observer();
            assertTrue(connected(jedis) >= CLIENTS * (SOCKETS + 1), "connected: " + connected(jedis));
            List<Future<String>> counts = new ArrayList<>();
            for (RedissonClient c : clients) {
                counts.add(owners.submit(() -> Steps.run(c, "count", "lock", key, key + ":counter", "2")));
            }
            for (Future<String> count : counts) {
                assertEquals("done", count.get(40, TimeUnit.SECONDS));
            }
            assertEquals(String.valueOf(2 * CLIENTS),
                    client.getBucket(key + ":counter", StringCodec.INSTANCE).get());
            assertFalse(jedis.exists(key));
        } finally {
            clients.forEach(Clients::close);
            owners.shutdownNow();
            threads.shutdownNow();
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }

    private static void connect(EventLoopGroup loops, ExecutorService threads, ExecutorService owners,
            ConcurrentLinkedQueue<RedissonClient> clients) throws Exception {
        List<Future<Boolean>> opening = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            opening.add(owners.submit(() -> clients.add(Clients.open(Server.shared(), config -> {
                config.setEventLoopGroup(loops).setExecutor(threads);
                config.useSingleServer().setConnectionMinimumIdleSize(SOCKETS).setConnectionPoolSize(SOCKETS)
                        .setTimeout(20_000).setConnectTimeout(20_000);
            }))));
        }
        for (Future<Boolean> opened : opening) {
            opened.get(40, TimeUnit.SECONDS);
        }
    }

    private static int connected(Jedis jedis) {
        for (String line : jedis.info("clients").split("\r\n")) {
            if (line.startsWith("connected_clients:")) {
                return Integer.parseInt(line.substring(line.indexOf(':') + 1));
            }
        }
        throw new AssertionError("INFO clients has no connected_clients");
    }
}
