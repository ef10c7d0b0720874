package io.github.lockredis.junit5;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;

/** Redisson clients. */
final class Clients {
    private Clients() {
    }

    /** Returns a client with few connections, called "orders". */
    static RedissonClient redisson(LockredisServer server) {
        Config config = new Config();
        config.setThreads(2).setNettyThreads(2).useSingleServer()
                .setAddress(server.redissonAddress()).setClientName("orders")
                .setConnectionMinimumIdleSize(1).setSubscriptionConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }

    /** Returns a client with Redisson's defaults. */
    static RedissonClient plain(LockredisServer server) {
        Config config = new Config();
        config.useSingleServer().setAddress(server.redissonAddress());
        return Redisson.create(config);
    }

    /** Returns a client of a cluster, with Redisson's defaults. */
    static RedissonClient cluster(LockredisTopology topology) {
        Config config = new Config();
        config.useClusterServers().addNodeAddress(topology.redissonAddresses());
        return Redisson.create(config);
    }
}
