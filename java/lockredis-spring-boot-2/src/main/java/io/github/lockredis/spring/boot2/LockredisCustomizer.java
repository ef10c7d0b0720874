package io.github.lockredis.spring.boot2;

import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.LockredisContextCustomizer;
import io.github.lockredis.spring.ServerSettings;
import io.github.lockredis.spring.SeveralServers;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;

/** Points the application of Spring Boot 2.7 at a server, by the properties spring.redis. */
final class LockredisCustomizer extends LockredisContextCustomizer {
    LockredisCustomizer(ServerSettings settings) {
        super(settings);
    }

    @Override
    protected String prefix() {
        return "spring.redis";
    }

    @Override
    protected String sslName() {
        return "ssl";
    }

    @Override
    protected String module() {
        return "lockredis-spring-boot-2 is for Spring Boot 2.7";
    }

    @Override
    protected boolean supports(String bootVersion) {
        return bootVersion.startsWith("2.");
    }

    @Override
    protected void connect(ConfigurableApplicationContext context, LockredisTopology topology) {
    }

    /** Spring Boot 2.7 prefers these sections, and no other property can remove one. */
    @Override
    protected void check(ConfigurableListableBeanFactory beans, ConfigurableEnvironment environment,
            Topology topology) {
        SeveralServers.refuse(environment, prefix(), topology);
    }
}
