package io.github.lockredis.spring.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.AutoConfigureLockredis;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;

/** The demo application, with Sentinels in its configuration for production. */
@SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {Redis.PREFIX + ".sentinel.master=shop",
        Redis.PREFIX + ".sentinel.nodes=sentinel.production.invalid:26379",
        Redis.PREFIX + ".sentinel.password=${SENTINEL_PASSWORD}"})
@AutoConfigureLockredis(topology = Topology.SENTINEL)
class SentinelShopTest extends ShopBehaviour {
    @Test
    void redissonUsesTheSentinels(@Autowired LockredisTopology topology) {
        assertThat(redisson.getConfig().isSentinelConfig()).isTrue();
        assertThat(topology.masterName()).isEqualTo("shop");
        assertThat(topology.password()).isEqualTo("lockredis"); // for ${REDIS_PASSWORD}
        assertThat(topology.sentinelPassword()).isEqualTo("lockredis");
        assertThat(topology.server()).isSameAs(server);
    }
}
