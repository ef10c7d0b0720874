package io.github.lockredis.spring.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.AutoConfigureLockredis;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;

/** The demo application, with a cluster in its configuration for production. */
@SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = Redis.PREFIX + ".cluster.nodes=a.production.invalid:6399,"
                + "b.production.invalid:6399")
@AutoConfigureLockredis(topology = Topology.CLUSTER)
class ClusterShopTest extends ShopBehaviour {
    @Override
    protected String database() {
        return "db0"; // a cluster has no other
    }

    @Test
    void redissonUsesTheCluster() {
        assertThat(redisson.getConfig().isClusterConfig()).isTrue();
    }
}
