package io.github.lockredis.spring.demo;

import io.github.lockredis.spring.AutoConfigureLockredis;
import org.springframework.boot.test.autoconfigure.data.redis.DataRedisTest;
import org.springframework.test.context.ContextConfiguration;

/** A slice of the demo application, with its configuration for production. */
@DataRedisTest
@ContextConfiguration(classes = Shop.class)
@AutoConfigureLockredis
class SliceTest extends SliceBehaviour {
}
