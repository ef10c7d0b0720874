package lockredis;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** Keyspace events of locks, received through pattern topics. */
class KeyEventTest extends Scenario {
    private final RedissonClient listening = closing(Clients.open(Server.shared(),
            config -> config.setCodec(StringCodec.INSTANCE)));
    private final Queue<String> heard = new ConcurrentLinkedQueue<>();

    @Test
    void endOfLeaseIsAnExpiredEvent() {
        Api.psubscribe(listening, "__keyevent@*__:expired", (channel, message) -> heard.add(channel + " " + message));
        client.getLock(key).lock(200, TimeUnit.MILLISECONDS);
        Await.until("the expired event", 5_000, () -> heard.contains("__keyevent@0__:expired " + key));
    }

    @Test
    void unlockIsADelEvent() {
        Api.psubscribe(listening, "__keyspace@0__:" + key, (channel, message) -> heard.add(message));
        RLock lock = client.getLock(key);
        lock.lock();
        Await.until("the expire event", 5_000, () -> heard.contains("expire"));
        lock.unlock();
        Await.until("the del event", 5_000, () -> heard.contains("del"));
    }
}
