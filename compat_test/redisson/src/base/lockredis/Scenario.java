package lockredis;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.Jedis;

/**
 * What nearly every scenario needs: the shared client, a key of its own, further owners, an
 * observer.
 */
abstract class Scenario {
    final RedissonClient client = Clients.shared();
    final String key = getClass().getSimpleName() + ":" + UUID.randomUUID();
    private final List<AutoCloseable> open = new ArrayList<>();

    /** Closed after the test, newest first. */
    final <T extends AutoCloseable> T closing(T thing) {
        open.add(thing);
        return thing;
    }

    final RedissonClient closing(RedissonClient other) {
        open.add(() -> Clients.close(other));
        return other;
    }

    final Actor actor() {
        return closing(new Actor());
    }

    final Jedis observer() {
        return closing(Server.shared().observe());
    }

    @AfterEach
    final void closeAll() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }
}
