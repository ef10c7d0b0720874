package io.github.lockredis.spring.boot3;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * Points the application at a server that is a bean, as Spring Boot does for containers: the bean of a
 * {@code @TestConfiguration}, for tests and for {@code spring-boot:test-run}. With {@code @AutoConfigureLockredis} the
 * context has connection details already, and this class does nothing.
 */
@AutoConfiguration(before = RedisAutoConfiguration.class)
@ConditionalOnMissingBean(RedisConnectionDetails.class)
final class LockredisBeanAutoConfiguration {
    LockredisBeanAutoConfiguration() {
    }

    /** Returns the details of the only topology, or of the primary one. */
    @Bean
    @ConditionalOnBean(LockredisTopology.class)
    static RedisConnectionDetails lockredisTopologyDetails(LockredisTopology topology, ApplicationContext context) {
        return new ServerDetails(topology, context);
    }

    /** Returns the details of the only server, or of the primary one. A topology comes first. */
    @Bean
    @ConditionalOnBean(LockredisServer.class)
    @ConditionalOnMissingBean(LockredisTopology.class)
    static RedisConnectionDetails lockredisServerDetails(LockredisServer server, ApplicationContext context) {
        return new ServerDetails(LockredisTopology.of(server), context);
    }
}
