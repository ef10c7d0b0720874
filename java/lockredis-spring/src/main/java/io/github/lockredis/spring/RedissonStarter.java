package io.github.lockredis.spring;

import java.lang.reflect.Method;
import java.util.Arrays;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import org.redisson.config.BaseConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;
import org.redisson.spring.starter.RedissonAutoConfigurationCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.ReflectionUtils;

/**
 * Points the client of Redisson's starter at the server. The starter follows Spring's properties by
 * itself, but not if it has a configuration of its own: spring.redis.redisson.config or file.
 *
 * <p>This class is loaded only if the starter is there.
 */
final class RedissonStarter implements RedissonAutoConfigurationCustomizer, Ordered {
    /** The same in all versions of the starter. */
    private static final String OWN = "spring.redis.redisson.";

    private final LockredisTopology topology;
    private final LockredisServer server;
    private final Environment environment;
    private final String prefix;

    private RedissonStarter(LockredisTopology topology, Environment environment, String prefix) {
        this.topology = topology;
        this.server = topology.server();
        this.environment = environment;
        this.prefix = prefix;
    }

    /**
     * Adds the customizer to a context. It is a singleton without a definition: Spring lists those
     * after all others of the same order, so the application's customizers run first.
     */
    static void register(ConfigurableApplicationContext context, LockredisTopology topology,
            String prefix) {
        context.getBeanFactory().registerSingleton("lockredisRedissonCustomizer",
                new RedissonStarter(topology, context.getEnvironment(), prefix));
    }

    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }

    @Override
    public void customize(Config config) {
        BaseConfig<?> servers;
        try {
            servers = connect(config);
        } catch (IllegalStateException e) { // another mode is configured
            throw new IllegalStateException("@AutoConfigureLockredis: " + origin() + " configures"
                    + " Redisson for other servers, and lockredis is "
                    + SeveralServers.name(topology.kind()) + ". Choose the annotation's topology, or"
                    + " move it to a profile that tests do not have", e);
        }
        servers.setUsername(server.username());
        servers.setPassword(server.password());
        // Since Redisson 4 the credentials are values of the Config itself.
        set(config, "setUsername", server.username());
        set(config, "setPassword", server.password());
    }

    /** Sets the addresses. Returns the part of the configuration with the credentials. */
    private BaseConfig<?> connect(Config config) {
        switch (topology.kind()) {
            case SENTINEL:
                SentinelServersConfig sentinels = config.useSentinelServers();
                sentinels.setMasterName(topology.masterName());
                sentinels.setSentinelAddresses(Arrays.asList(topology.redissonAddresses()));
                sentinels.setSentinelUsername(null);
                sentinels.setSentinelPassword(topology.sentinelPassword());
                return sentinels;
            case CLUSTER:
                ClusterServersConfig cluster = config.useClusterServers();
                cluster.setNodeAddresses(Arrays.asList(topology.redissonAddresses()));
                return cluster;
            default:
                SingleServerConfig single = config.useSingleServer();
                single.setAddress(server.redissonAddress());
                if (server.isAttached()) {
                    single.setDatabase(server.database());
                }
                return single;
        }
    }

    private static void set(Config config, String setter, String value) {
        Method method = ReflectionUtils.findMethod(Config.class, setter, String.class);
        if (method != null) {
            ReflectionUtils.invokeMethod(method, config, value);
        }
    }

    /** Names what set the mode of the starter's configuration. */
    private String origin() {
        for (String name : new String[] {"config", "file"}) {
            if (environment.containsProperty(OWN + name)) {
                return OWN + name;
            }
        }
        String section = SeveralServers.property(environment, prefix,
                SeveralServers.above(topology.kind()));
        return section != null ? section : "a RedissonAutoConfigurationCustomizer";
    }
}
