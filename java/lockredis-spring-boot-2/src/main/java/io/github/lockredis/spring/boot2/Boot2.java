package io.github.lockredis.spring.boot2;

import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.spring.Generation;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;

/** Points the application of Spring Boot 2.7 at a server, by the properties spring.redis. */
final class Boot2 implements Generation {
    Boot2() {
    }

    @Override
    public String module() {
        return "lockredis-spring-boot-2 is for Spring Boot 2.7";
    }

    @Override
    public boolean supports(String bootVersion) {
        return bootVersion.startsWith("2.");
    }

    @Override
    public String prefix() {
        return "spring.redis";
    }

    @Override
    public String sslName() {
        return "ssl";
    }

    @Override
    public void connect(ConfigurableApplicationContext context, LockredisTopology topology) {
    }

    /** Spring Boot 2.7 does, and no other property can remove a section. */
    @Override
    public boolean prefersSections(ConfigurableListableBeanFactory beans, Environment environment) {
        return true;
    }
}
