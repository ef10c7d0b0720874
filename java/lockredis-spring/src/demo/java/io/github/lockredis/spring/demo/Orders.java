package io.github.lockredis.spring.demo;

import java.util.concurrent.locks.Lock;

import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.stereotype.Service;

/** Packs orders, each by one process at a time. */
@Service
public class Orders {
    private final RedissonClient redisson;
    private final RedisLockRegistry registry;
    private final StringRedisTemplate redis;

    Orders(RedissonClient redisson, RedisLockRegistry registry, StringRedisTemplate redis) {
        this.redisson = redisson;
        this.registry = registry;
        this.redis = redis;
    }

    /** Packs an order under Redisson's lock "order:id". Runs inside while it holds the lock. */
    public void pack(String id, Runnable inside) {
        RLock lock = redisson.getLock("order:" + id);
        lock.lock();
        try {
            redis.opsForValue().increment("packed:" + id);
            inside.run();
        } finally {
            lock.unlock();
        }
    }

    /** Ships an order under Spring Integration's lock. Runs inside while it holds the lock. */
    public void ship(String id, Runnable inside) {
        Lock lock = registry.obtain(id);
        lock.lock();
        try {
            redis.opsForValue().increment("shipped:" + id);
            inside.run();
        } finally {
            lock.unlock();
        }
    }

    /** Forgets to unlock. */
    public void forget(String id) {
        redisson.getLock("order:" + id).lock();
    }

    /** Returns the price of an article, from the cache if it is there. */
    @Cacheable("prices")
    public String price(String article) {
        redis.opsForValue().increment("computed:" + article);
        return "42 EUR";
    }
}
