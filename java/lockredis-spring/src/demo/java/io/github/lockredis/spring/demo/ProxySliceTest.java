package io.github.lockredis.spring.demo;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;

import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.AutoConfigureLockredis;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.data.redis.DataRedisTest;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.test.context.ContextConfiguration;

/** A slice of the demo application behind a proxy. Its client is that of a single server. */
@DataRedisTest
@ContextConfiguration(classes = Shop.class)
@AutoConfigureLockredis(topology = Topology.PROXY)
class ProxySliceTest {
    @Autowired
    StringRedisTemplate redis;

    @Test
    void keysOfSeveralSlotsAreRefused() {
        redis.opsForValue().set("a", "v");
        assertThatThrownBy(() -> redis.opsForValue().multiGet(Arrays.asList("a", "b")))
                .hasStackTraceContaining("CROSSSLOT");
    }
}
