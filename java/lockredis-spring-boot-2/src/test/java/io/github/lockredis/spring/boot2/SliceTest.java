package io.github.lockredis.spring.boot2;

import io.github.lockredis.spring.demo.Shop;
import io.github.lockredis.spring.demo.SliceBehaviour;
import org.springframework.boot.test.autoconfigure.data.redis.DataRedisTest;
import org.springframework.test.context.ContextConfiguration;

/** A slice of the demo application, with its configuration for production. */
@DataRedisTest
@ContextConfiguration(classes = Shop.class)
@AutoConfigureLockredis
class SliceTest extends SliceBehaviour {
}
