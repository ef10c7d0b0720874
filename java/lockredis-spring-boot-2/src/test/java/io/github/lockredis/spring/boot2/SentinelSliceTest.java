package io.github.lockredis.spring.boot2;

import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.demo.Shop;
import io.github.lockredis.spring.demo.TopologyBehaviour;
import org.springframework.boot.test.autoconfigure.data.redis.DataRedisTest;
import org.springframework.test.context.ContextConfiguration;

/** A slice of the demo application behind Sentinels. */
@DataRedisTest(properties = {"spring.redis.sentinel.master=shop",
        "spring.redis.sentinel.nodes=sentinel.production.invalid:26379",
        "spring.redis.sentinel.password=${SENTINEL_PASSWORD}"})
@ContextConfiguration(classes = Shop.class)
@AutoConfigureLockredis(topology = Topology.SENTINEL, masterName = "orders")
class SentinelSliceTest extends TopologyBehaviour {
}
