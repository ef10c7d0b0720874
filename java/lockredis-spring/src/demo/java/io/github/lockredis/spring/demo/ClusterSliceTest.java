package io.github.lockredis.spring.demo;

import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.AutoConfigureLockredis;
import org.springframework.boot.test.autoconfigure.data.redis.DataRedisTest;
import org.springframework.test.context.ContextConfiguration;

/** A slice of the demo application on a cluster. */
@DataRedisTest
@ContextConfiguration(classes = Shop.class)
@AutoConfigureLockredis(topology = Topology.CLUSTER, password = "for the tests")
class ClusterSliceTest extends TopologyBehaviour {
    @Override
    protected String database() {
        return "db0"; // a cluster has no other
    }
}
