package orders;

import java.util.function.Consumer;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** Ships orders, each once, however many processes try, in Java or in Go: the lock and the key are those of the Go service. */
public final class Orders {
    private final RedissonClient redisson;
    private final Consumer<String> courier;

    public Orders(RedissonClient redisson, Consumer<String> courier) {
        this.redisson = redisson;
        this.courier = courier;
    }

    /** Has an order shipped, and tells whether it was this call that did it. */
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
