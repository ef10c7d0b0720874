package io.github.lockredis.spring.boot3;

import io.github.lockredis.spring.AutoConfigureLockredis;
import io.github.lockredis.spring.demo.Shop;
import io.github.lockredis.spring.demo.SliceBehaviour;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails.Standalone;
import org.springframework.boot.test.autoconfigure.data.redis.DataRedisTest;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.util.ClassUtils;

/** A slice whose application has a URL with the number of a database. */
@DataRedisTest(properties = "spring.data.redis.url=redis://elsewhere:7000/5")
@ContextConfiguration(classes = Shop.class)
@AutoConfigureLockredis
class UrlSliceTest extends SliceBehaviour {
    /** Spring Boot takes the number in the URL since 3.5. */
    @Override
    protected String database() {
        return ClassUtils.hasMethod(Standalone.class, "getSslBundle") ? "db5" : "db2";
    }
}
