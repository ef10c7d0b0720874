package orders;

import io.quarkus.redis.datasource.RedisDataSource;
import io.quarkus.redis.datasource.value.SetArgs;
import io.quarkus.redis.datasource.value.ValueCommands;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.UUID;

/** Orders, which are packed under a lock. */
@ApplicationScoped
public class Orders {
    private static final String UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then"
            + " return redis.call('del', KEYS[1]) end return 0";

    private final RedisDataSource redis;
    private final ValueCommands<String, String> values;

    Orders(RedisDataSource redis) {
        this.redis = redis;
        values = redis.value(String.class);
    }

    /** Returns a token for {@link #unlock}. Null: somebody else holds the order's lock. */
    public String lock(String order) {
        String token = UUID.randomUUID().toString();
        return values.setAndChanged(order, token, new SetArgs().nx().px(Duration.ofSeconds(30))) ? token : null;
    }

    /** Gives a lock back, unless its lease has ended. */
    public void unlock(String order, String token) {
        redis.execute("EVAL", UNLOCK, "1", order, token);
    }

    /** Returns false if the order's lock is held. */
    public boolean pack(String order) {
        String token = lock(order);
        if (token == null) {
            return false;
        }
        try {
            values.set(order + ":packed", "true");
            return true;
        } finally {
            unlock(order, token);
        }
    }
}
