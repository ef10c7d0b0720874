package lockredis;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson clients with few connections and, where the release can set it, a watchdog of 3 s. */
final class Clients {
    /** Lease that the watchdog renews, in milliseconds. */
    static final long WATCHDOG_MS = 3_000;
    private static final Map<Server, RedissonClient> SHARED = new HashMap<>();
    private static final Map<Server, RuntimeException> FAILURES = new HashMap<>();

    private Clients() {
    }

    /**
     * The client of all scenarios of a server without special needs. After a failure, later
     * scenarios do not try to connect again.
     */
    static synchronized RedissonClient of(Server server) {
        if (FAILURES.containsKey(server)) {
            throw FAILURES.get(server);
        }
        if (!SHARED.containsKey(server)) {
            try {
                SHARED.put(server, open(server));
            } catch (RuntimeException e) {
                FAILURES.put(server, e);
                throw e;
            }
        }
        return SHARED.get(server);
    }

    static RedissonClient shared() {
        return of(Server.shared());
    }

    static RedissonClient open(Server server) {
        return open(server, config -> { });
    }

    /** A client of the given server. The change is applied last. */
    static RedissonClient open(Server server, Consumer<Config> change) {
        return Redisson.create(server.isCluster()
                ? clusterConfig(server.address(), change) : config(server.address(), change));
    }

    /** The configuration for {@link Server#cluster}. */
    static Config clusterConfig(String address, Consumer<Config> change) {
        Config config = new Config();
        config.useClusterServers().addNodeAddress(Api.address(address))
                .setMasterConnectionMinimumIdleSize(2).setSubscriptionConnectionMinimumIdleSize(1)
                .setTimeout(5_000);
        Api.watchdog(config, WATCHDOG_MS);
        change.accept(config);
        return config;
    }

    static Config config(String address, Consumer<Config> change) {
        Config config = new Config();
        config.useSingleServer().setAddress(Api.address(address))
                .setConnectionMinimumIdleSize(2).setSubscriptionConnectionMinimumIdleSize(1)
                .setTimeout(5_000);
        Api.watchdog(config, WATCHDOG_MS);
        change.accept(config);
        return config;
    }

    /** Closes a client without the quiet period. */
    static void close(RedissonClient client) {
        client.shutdown(0, 5, TimeUnit.SECONDS);
    }
}
