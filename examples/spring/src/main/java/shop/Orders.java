package shop;

import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Service;

/** Packs orders, one after the other. */
@Service
public class Orders {
    private final RedissonClient redisson;
    private final StringRedisTemplate redis;

    Orders(RedissonClient redisson, StringRedisTemplate redis) {
        this.redisson = redisson;
        this.redis = redis;
    }

    public void pack(String id) {
        RLock lock = redisson.getLock("orders:" + id);
        lock.lock();
        try {
            redis.opsForValue().increment("orders:packed");
        } finally {
            lock.unlock();
        }
    }
}
