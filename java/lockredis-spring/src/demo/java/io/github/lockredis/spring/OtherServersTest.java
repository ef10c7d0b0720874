package io.github.lockredis.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.demo.Shop;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.api.RedissonReactiveClient;
import org.redisson.api.RedissonRxClient;
import org.redisson.config.Config;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.test.context.TestContextManager;

/** Beans of an application that connect to a server which is not the context's. */
class OtherServersTest {
    private static LockredisServer other;

    @BeforeAll
    static void start() {
        other = LockredisServer.start();
    }

    @AfterAll
    static void stop() {
        other.close();
    }

    @SpringBootTest(classes = Two.class, webEnvironment = WebEnvironment.NONE)
    @AutoConfigureLockredis
    static class TwoServers {
    }

    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE, properties = "example=other")
    @AutoConfigureLockredis
    static class Single {
    }

    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE, properties = "example=other")
    @AutoConfigureLockredis(topology = Topology.SENTINEL)
    static class Sentinel {
    }

    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE, properties = "example=other")
    @AutoConfigureLockredis(topology = Topology.CLUSTER)
    static class Cluster {
    }

    @Configuration(proxyBeanMethods = false)
    static class Two {
        private static RedissonClient client(String address, String password) {
            Config config = new Config();
            config.useSingleServer().setAddress(address).setPassword(password)
                    .setConnectionMinimumIdleSize(1).setSubscriptionConnectionMinimumIdleSize(1);
            return Redisson.create(config);
        }

        @Bean(destroyMethod = "shutdown")
        RedissonClient stranger() {
            return client(other.redissonAddress(), null);
        }

        @Bean(destroyMethod = "shutdown")
        RedissonClient ours(LockredisServer server) {
            return client("redis://localhost:" + server.port(), server.password());
        }

        @Bean
        RedissonReactiveClient strangeReactive(@Qualifier("stranger") RedissonClient client) {
            return client.reactive();
        }

        @Bean
        RedissonRxClient strangeRx(@Qualifier("stranger") RedissonClient client) {
            return client.rxJava();
        }

        @Bean
        RedissonRxClient ourRx(@Qualifier("ours") RedissonClient client) {
            return client.rxJava();
        }

        @Bean
        RedissonConnectionFactory strangeRedissonFactory(@Qualifier("stranger") RedissonClient client) {
            return new RedissonConnectionFactory(client);
        }

        @Bean
        LettuceConnectionFactory strangeFactory() {
            return new LettuceConnectionFactory(other.host(), other.port());
        }

        @Bean
        LettuceConnectionFactory strangeSentinels() {
            return new LettuceConnectionFactory(new RedisSentinelConfiguration().master("orders").sentinel("a", 26379));
        }

        @Bean
        LettuceConnectionFactory ourFactory(LockredisServer server) {
            return new LettuceConnectionFactory(server.host(), server.port());
        }

        @Bean
        @Lazy
        LettuceConnectionFactory lazyFactory() {
            return new LettuceConnectionFactory("redis.production.invalid", 6399);
        }
    }

    private static List<String> warnings(Class<?> test, String... beans) throws Exception {
        List<String> logged = new CopyOnWriteArrayList<>();
        OtherServers.LOG.setFilter(record -> {
            logged.add(record.getMessage());
            return false;
        });
        try {
            TestContextManager manager = new TestContextManager(test);
            Arrays.stream(beans).forEach(manager.getTestContext().getApplicationContext()::getBean);
        } finally {
            OtherServers.LOG.setFilter(null);
        }
        return logged;
    }

    @Test
    void theLogNamesEachBeanWithAnotherServer() throws Exception {
        List<String> logged = warnings(TwoServers.class, "lazyFactory");
        String there = other.host() + ":" + other.port();
        assertThat(logged).hasSize(7);
        assertThat(logged.get(0)).startsWith("@AutoConfigureLockredis: the bean \"stranger\" (Redisson) connects to "
                + there + ", and lockredis is ").contains(".redis.port");
        assertThat(logged.get(1)).contains("\"strangeReactive\" (RedissonReactive) connects to " + there);
        assertThat(logged.get(2)).contains("\"strangeRx\" (RedissonRx) connects to " + there);
        assertThat(logged.get(3)).contains("\"strangeRedissonFactory\" (RedissonConnectionFactory)", there);
        assertThat(logged.get(4)).contains("\"strangeFactory\" (LettuceConnectionFactory) connects to " + there);
        assertThat(logged.get(5)).contains("\"strangeSentinels\"", "connects to a:26379");
        assertThat(logged.get(6)).contains("\"lazyFactory\"", "redis.production.invalid:6399");
    }

    @Test
    void theContextsOwnServerIsNoOther() throws Exception {
        for (Class<?> test : Arrays.asList(Single.class, Sentinel.class, Cluster.class)) {
            assertThat(warnings(test)).isEmpty();
        }
    }

    @Test
    void allModesHaveAddresses() {
        Config config = new Config();
        config.useSingleServer().setAddress("rediss://a:1");
        assertThat(OtherServers.addresses(config)).containsExactly("a:1");
        config = new Config();
        config.useSentinelServers().setMasterName("orders").addSentinelAddress("redis://a:1", "redis://[::1]:2");
        assertThat(OtherServers.addresses(config)).containsExactly("a:1", "[::1]:2");
        config = new Config();
        config.useClusterServers().addNodeAddress("redis://a:1");
        assertThat(OtherServers.addresses(config)).containsExactly("a:1");
        config = new Config();
        config.useReplicatedServers().addNodeAddress("redis://a:1");
        assertThat(OtherServers.addresses(config)).containsExactly("a:1");
        config = new Config();
        config.useMasterSlaveServers().setMasterAddress("redis://a:1").addSlaveAddress("redis://b:2");
        assertThat(OtherServers.addresses(config)).containsExactly("a:1", "b:2");
        RedisStaticMasterReplicaConfiguration replicas = new RedisStaticMasterReplicaConfiguration("a", 1);
        replicas.addNode("b", 2);
        assertThat(OtherServers.addresses(replicas)).containsExactly("a:1", "b:2");
        assertThat(OtherServers.addresses(new RedisClusterConfiguration(Arrays.asList("a:1"))))
                .containsExactly("a:1");
        assertThat(OtherServers.addresses(new RedisStandaloneConfiguration("a", 1))).containsExactly("a:1");
        assertThat(OtherServers.addresses("redis://user:secret@a")).containsExactly("a:6379");
        assertThat(OtherServers.addresses(null)).isEmpty();
    }
}
