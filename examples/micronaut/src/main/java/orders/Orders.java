package orders;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import jakarta.inject.Singleton;
import java.util.UUID;

/** Orders, which are packed under a lock. */
@Singleton
public class Orders {
    private static final String UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then"
            + " return redis.call('del', KEYS[1]) end return 0";

    private final StatefulRedisConnection<String, String> redis;

    Orders(StatefulRedisConnection<String, String> redis) {
        this.redis = redis;
    }

    /** Returns a token for {@link #unlock}. Null: somebody else holds the order's lock. */
    public String lock(String order) {
        String token = UUID.randomUUID().toString();
        return redis.sync().set(order, token, SetArgs.Builder.nx().px(30_000)) == null ? null : token;
    }

    /** Gives a lock back, unless its lease has ended. */
    public void unlock(String order, String token) {
        redis.sync().eval(UNLOCK, ScriptOutputType.INTEGER, new String[] {order}, token);
    }

    /** Returns false if the order's lock is held. */
    public boolean pack(String order) {
        String token = lock(order);
        if (token == null) {
            return false;
        }
        try {
            redis.sync().set(order + ":packed", "true");
            return true;
        } finally {
            unlock(order, token);
        }
    }
}
