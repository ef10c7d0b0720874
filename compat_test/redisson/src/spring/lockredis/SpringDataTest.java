package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisServerCommands;
import org.springframework.data.redis.core.Cursor;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.listener.PatternTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;

/** Spring Data Redis on Redisson's connections. */
class SpringDataTest extends Scenario {
    private final StringRedisTemplate redis = new StringRedisTemplate(new RedissonConnectionFactory(client));

    @Test
    void valuesHaveConditionsAndLifetimes() {
        assertTrue(redis.opsForValue().setIfAbsent(key, "1", Duration.ofSeconds(60)));
        assertFalse(redis.opsForValue().setIfAbsent(key, "2", Duration.ofSeconds(10)));
        assertTrue(redis.getExpire(key) >= 50);
        assertEquals(3, redis.opsForValue().increment(key, 2));
        assertTrue(redis.persist(key));
        assertEquals("3", redis.opsForValue().getAndDelete(key));
        assertFalse(redis.hasKey(key));
    }

    @Test
    void collectionsComeBack() {
        redis.opsForHash().putAll(key + ":h", Map.of("a", "1", "b", "2"));
        assertEquals(Map.of("a", "1", "b", "2"), redis.opsForHash().entries(key + ":h"));
        redis.opsForList().rightPushAll(key + ":l", "a", "b", "c");
        assertEquals(List.of("a", "b", "c"), redis.opsForList().range(key + ":l", 0, -1));
        assertEquals("c", redis.opsForList().rightPop(key + ":l", Duration.ofSeconds(1)));
        redis.opsForSet().add(key + ":s", "x", "y");
        assertEquals(Set.of("x", "y"), redis.opsForSet().members(key + ":s"));
        redis.opsForZSet().add(key + ":z", "p", 1.5);
        assertEquals(1.5, redis.opsForZSet().score(key + ":z", "p"));
        Set<String> met = new TreeSet<>();
        try (Cursor<String> cursor = redis.scan(ScanOptions.scanOptions().match(key + ":*").count(100).build())) {
            cursor.forEachRemaining(met::add);
        }
        assertEquals(Set.of(key + ":h", key + ":l", key + ":s", key + ":z"), met);
        assertEquals(4, redis.delete(met));
    }

    @Test
    void scriptsPipelinesAndTransactionsRun() {
        RedisScript<Long> script = RedisScript.of("return redis.call('INCRBY', KEYS[1], ARGV[1])", Long.class);
        assertEquals(5, redis.execute(script, List.of(key), "5"));
        assertEquals(10, redis.execute(script, List.of(key), "5"));
        List<Object> replies = redis.executePipelined((RedisCallback<Object>) connection -> {
            connection.stringCommands().incr(key.getBytes());
            connection.stringCommands().get(key.getBytes());
            return null;
        });
        assertEquals(List.of(11L, "11"), replies);
        List<Object> executed = redis.execute(new SessionCallback<>() {
            @Override
            @SuppressWarnings({"unchecked", "rawtypes"})
            public List<Object> execute(RedisOperations operations) throws DataAccessException {
                operations.multi();
                operations.opsForValue().set(key, "20");
                operations.opsForValue().increment(key);
                return operations.exec();
            }
        });
        assertEquals(2, executed.size());
        assertEquals("21", redis.opsForValue().get(key));
        redis.delete(key);
    }

    @Test
    void serverTellsAboutItself() {
        RedisConnection connection = redis.getConnectionFactory().getConnection();
        RedisServerCommands server = connection.serverCommands();
        assertTrue(server.info("server").getProperty("redis_version").startsWith("7.0"));
        assertNotNull(server.info().getProperty("connected_clients"));
        assertTrue(server.time(TimeUnit.MILLISECONDS) > 1_600_000_000_000L);
        assertTrue(server.dbSize() >= 0);
        assertEquals("16", server.getConfig("databases").getProperty("databases"));
        assertEquals("PONG", connection.ping());
        connection.close();
    }

    @Test
    void listenersHearPatterns() throws Exception {
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        RedisMessageListenerContainer container = new RedisMessageListenerContainer();
        container.setConnectionFactory(redis.getConnectionFactory());
        container.addMessageListener((message, pattern) -> heard.add(message.toString()), new PatternTopic(key + ":*"));
        container.afterPropertiesSet();
        container.start();
        try {
            Await.until("the message", 5_000, () -> {
                redis.convertAndSend(key + ":news", "hello");
                return heard.contains("hello");
            });
        } finally {
            container.destroy();
        }
    }
}
