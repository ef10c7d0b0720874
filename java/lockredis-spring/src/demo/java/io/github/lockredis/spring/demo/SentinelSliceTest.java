package io.github.lockredis.spring.demo;

import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.AutoConfigureLockredis;
import org.springframework.boot.test.autoconfigure.data.redis.DataRedisTest;
import org.springframework.test.context.ContextConfiguration;

/** A slice of the demo application behind Sentinels. */
@DataRedisTest(properties = {Redis.PREFIX + ".sentinel.master=shop",
        Redis.PREFIX + ".sentinel.nodes=sentinel.production.invalid:26379",
        Redis.PREFIX + ".sentinel.password=${SENTINEL_PASSWORD}"})
@ContextConfiguration(classes = Shop.class)
@AutoConfigureLockredis(topology = Topology.SENTINEL, masterName = "orders")
class SentinelSliceTest extends TopologyBehaviour {
}
