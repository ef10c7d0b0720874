package lockredis;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.redisson.api.RedissonClient;
import redis.clients.jedis.Jedis;

/**
 * What nearly every scenario needs: a server and a client that scenarios share, a key of its own,
 * further owners, an observer.
 */
abstract class Scenario {
    final Server server = getClass().isAnnotationPresent(OnCluster.class) ? Server.cluster() : Server.shared();
    final RedissonClient client = Clients.of(server);
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
        return closing(server.observe());
    }

    @AfterEach
    final void closeAll() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }
}
