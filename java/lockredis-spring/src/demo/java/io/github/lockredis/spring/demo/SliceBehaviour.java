package io.github.lockredis.spring.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.lockredis.server.LockredisServer;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** What a slice of the demo does: it has Spring Data Redis, and no Redisson. */
public abstract class SliceBehaviour {
    @Autowired
    ApplicationContext context;
    @Autowired
    LockredisServer server;
    @Autowired
    StringRedisTemplate redis;
    @Autowired
    RedisLockRegistry locks;

    @Test
    void theTemplateUsesTheServer() {
        redis.opsForValue().set("greeting", "hello");
        assertThat(String.valueOf(server.command("INFO", "keyspace")))
                .contains(database() + ":keys=1,");
    }

    /** Returns the database of the application. */
    protected String database() {
        return "db2";
    }

    @Test
    void theServerIsEmptyBeforeEachTestOfASlice() {
        assertThat(redis.keys("*")).isEmpty();
        locks.obtain("7").lock();
        assertThat(server.locks()).hasSize(1);
        locks.obtain("7").unlock();
    }

    @Test
    void theSliceHasNoRedisson() {
        assertThat(context.getBeanNamesForType(RedissonClient.class)).isEmpty();
        assertThat(context.getBeanNamesForType(Orders.class)).isEmpty();
    }
}
