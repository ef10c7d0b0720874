package io.github.lockredis.redisson;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;

import io.github.lockredis.server.LockredisServer;

/** Redisson clients. */
final class Clients {
    private Clients() {
    }

    /**
     * Returns a client with few connections. They are open from the start: shutdown of Redisson 4.7.0 takes ten seconds
     * when a connection opens meanwhile, for the last command of an unlock.
     */
    static RedissonClient redisson(LockredisServer server) {
        Config config = new Config();
        single(config, server);
        return Redisson.create(config);
    }

    /** Returns a client that gives a command up after 300 ms and one retry. */
    static RedissonClient impatient(LockredisServer server) {
        Config config = new Config();
        single(config, server).setTimeout(300).setRetryAttempts(1);
        return Redisson.create(config);
    }

    private static SingleServerConfig single(Config config, LockredisServer server) {
        return config.setThreads(2).setNettyThreads(2).useSingleServer().setAddress(server.redissonAddress())
                .setConnectionMinimumIdleSize(3).setSubscriptionConnectionMinimumIdleSize(1);
    }
}
