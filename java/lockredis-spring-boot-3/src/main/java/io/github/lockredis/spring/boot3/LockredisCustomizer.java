package io.github.lockredis.spring.boot3;

import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;
import io.github.lockredis.spring.LockredisContextCustomizer;
import io.github.lockredis.spring.ServerSettings;
import io.github.lockredis.spring.SeveralServers;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Points the application of Spring Boot 3 at a server, by the bean RedisConnectionDetails and by the
 * properties spring.data.redis: Redisson's starter takes some values from the properties only.
 */
final class LockredisCustomizer extends LockredisContextCustomizer {
    /** The name of the bean RedisConnectionDetails. */
    static final String DETAILS = "lockredisConnectionDetails";

    LockredisCustomizer(ServerSettings settings) {
        super(settings);
    }

    @Override
    protected String prefix() {
        return "spring.data.redis";
    }

    @Override
    protected String sslName() {
        return "ssl.enabled";
    }

    @Override
    protected String module() {
        return "lockredis-spring-boot-3 is for Spring Boot 3.1 to 3.5";
    }

    @Override
    protected boolean supports(String bootVersion) {
        return bootVersion.matches("3\\.[1-9].*");
    }

    @Override
    protected void connect(ConfigurableApplicationContext context, LockredisTopology topology) {
        RootBeanDefinition details = new RootBeanDefinition();
        details.setTargetType(RedisConnectionDetails.class);
        details.setInstanceSupplier(() -> new ServerDetails(topology, context));
        details.setPrimary(true); // if the application has details of its own
        ((BeanDefinitionRegistry) context.getBeanFactory()).registerBeanDefinition(DETAILS, details);
    }

    /** Spring takes the details before these sections. Redisson's starter does not. */
    @Override
    protected void check(ConfigurableListableBeanFactory beans, ConfigurableEnvironment environment,
            Topology topology) {
        boolean own = environment.containsProperty("spring.redis.redisson.config")
                || environment.containsProperty("spring.redis.redisson.file");
        for (String name : beans.getBeanDefinitionNames()) {
            if (!own && name.startsWith("org.redisson.spring.starter.RedissonAutoConfiguration")) {
                SeveralServers.refuse(environment, prefix(), topology);
            }
        }
    }
}
