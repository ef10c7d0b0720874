package io.github.lockredis.spring.demo;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** An application that uses Redis in the usual ways: locks, a cache, sessions. */
@SpringBootApplication
@EnableCaching
public class Shop {
    @Bean
    RedisLockRegistry lockRegistry(RedisConnectionFactory connections) {
        return new RedisLockRegistry(connections, "shop-locks");
    }
}
