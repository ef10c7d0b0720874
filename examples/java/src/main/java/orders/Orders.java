package orders;

import java.util.function.Consumer;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Ships each order once, even when many processes try, in Java or in Go: the Go service uses the
 * same lock and the same key.
 */
public final class Orders {
    private final RedissonClient redisson;
    private final Consumer<String> courier;

    public Orders(RedissonClient redisson, Consumer<String> courier) {
        this.redisson = redisson;
        this.courier = courier;
    }

    /** Ships an order. Returns false if the order was shipped before. */
    public boolean ship(String id) {
        RLock lock = redisson.getLock("orders:" + id);
        lock.lock();
        try {
            RBucket<String> status = redisson.getBucket("order:" + id, StringCodec.INSTANCE);
            if ("shipped".equals(status.get())) {
                return false;
            }
            courier.accept(id);
            status.set("shipped");
            return true;
        } finally {
            lock.unlock();
        }
    }
}
