package io.github.lockredis.spring.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.AutoConfigureLockredis;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.test.context.TestContextManager;

/** The starter with a configuration of its own, which it takes in place of Spring's properties. */
@SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
        properties = "spring.redis.redisson.config={\"singleServerConfig\":"
                + "{\"address\":\"redis://redis.production.invalid:6399\",\"password\":\"secret\","
                + "\"connectionMinimumIdleSize\":1}}")
@AutoConfigureLockredis(password = "for the tests")
class RedissonConfigurationTest {
    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
            properties = "spring.redis.redisson.config={\"clusterServersConfig\":"
                    + "{\"nodeAddresses\":[\"redis://redis.production.invalid:6399\"]}}")
    @AutoConfigureLockredis
    static class Cluster {
    }

    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
            properties = Redis.PREFIX + ".sentinel.master=orders")
    @AutoConfigureLockredis
    static class Sentinel {
    }

    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
            properties = "spring.redis.redisson.file=classpath:redisson.yml")
    @AutoConfigureLockredis
    static class File {
        @Autowired
        LockredisServer server;
        @Autowired
        RedissonClient redisson;
    }

    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
            properties = "spring.redis.redisson.config={\"singleServerConfig\":{\"address\":"
                    + "\"redis://${" + Redis.PREFIX + ".host}:${" + Redis.PREFIX + ".port}\",\"password\":"
                    + "\"${" + Redis.PREFIX + ".password}\",\"connectionMinimumIdleSize\":1}}")
    @AutoConfigureLockredis
    static class Placeholders extends File {
    }

    @Test
    void aFileIsReplacedExceptForItsDatabase() throws Exception {
        File test = prepared(File.class);
        test.redisson.getBucket("key").set("value");
        assertThat(String.valueOf(test.server.command("INFO", "keyspace")))
                .contains("db5:keys=1,");
    }

    @Test
    void placeholdersForTheServerWork() throws Exception {
        File test = prepared(Placeholders.class);
        test.redisson.getBucket("key").set("value");
        assertThat(test.server.command("EXISTS", "key")).isEqualTo(1L);
    }

    private static <T> T prepared(Class<T> type) throws Exception {
        T test = BeanUtils.instantiateClass(type);
        new TestContextManager(type).prepareTestInstance(test);
        return test;
    }

    @Test
    void aSingleServerIsReplaced(@Autowired LockredisServer server,
            @Autowired RedissonClient redisson) {
        redisson.getBucket("key").set("value");
        assertThat(server.password()).isEqualTo("for the tests");
        assertThat(server.command("EXISTS", "key")).isEqualTo(1L);
    }

    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
            properties = "spring.redis.redisson.config={\"clusterServersConfig\":"
                    + "{\"nodeAddresses\":[\"redis://a.production.invalid:6399\","
                    + "\"redis://b.production.invalid:6399\"],\"password\":\"secret\"}}")
    @AutoConfigureLockredis(topology = Topology.CLUSTER)
    static class OwnCluster extends Several {
    }

    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
            properties = "spring.redis.redisson.config={\"sentinelServersConfig\":"
                    + "{\"sentinelAddresses\":[\"redis://a.production.invalid:26379\"],"
                    + "\"masterName\":\"shop\",\"sentinelPassword\":\"secret\"}}")
    @AutoConfigureLockredis(topology = Topology.SENTINEL, masterName = "orders")
    static class OwnSentinels extends Several {
    }

    static class Several {
        @Autowired
        LockredisServer server;
        @Autowired
        RedissonClient redisson;
    }

    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
            properties = Redis.PREFIX + ".sentinel.master=orders")
    @AutoConfigureLockredis(topology = Topology.CLUSTER)
    static class SentinelsInPlaceOfACluster {
    }

    @Test
    void aSentinelSectionWinsOverAClusterSoItIsRefused() {
        assertFails(SentinelsInPlaceOfACluster.class, "lockredis is a cluster");
    }

    @Test
    void severalServersAreReplaced() throws Exception {
        for (Class<? extends Several> type : Arrays.asList(OwnCluster.class, OwnSentinels.class)) {
            Several test = prepared(type);
            test.redisson.getBucket("key").set("value");
            assertThat(test.server.command("DBSIZE")).isEqualTo(1L);
        }
    }

    @Test
    void aClusterIsRefusedByName() {
        assertFails(Cluster.class, "spring.redis.redisson.config configures Redisson");
    }

    @Test
    void aSentinelSectionIsRefusedByName() {
        assertFails(Sentinel.class, "because of " + Redis.PREFIX + ".sentinel.master");
    }

    private static void assertFails(Class<?> test, String text) {
        assertThatThrownBy(() -> new TestContextManager(test).getTestContext().getApplicationContext())
                .satisfies(e -> assertThat(messages(e)).contains(text));
    }

    /** Returns the messages of a failure and of its causes. */
    private static String messages(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            text.append(cause.getMessage()).append('\n');
        }
        return text.toString();
    }
}
