package io.github.lockredis.redisson;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import io.github.lockredis.server.LockredisServer;

/** Redisson clients. */
final class Clients {
    private Clients() {
    }

    /** Returns a client with few connections. */
    static RedissonClient redisson(LockredisServer server) {
        Config config = new Config();
        config.setThreads(2).setNettyThreads(2).useSingleServer().setAddress(server.redissonAddress())
                .setConnectionMinimumIdleSize(1).setSubscriptionConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }
}
