package io.github.lockredis.spring.boot3;

import java.util.Arrays;

import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.spring.Generation;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;

/**
 * Points the application of Spring Boot 3 at a server, by the bean RedisConnectionDetails and by the
 * properties spring.data.redis: Redisson's starter takes some values from the properties only.
 */
final class Boot3 implements Generation {
    /** The name of the bean RedisConnectionDetails. */
    static final String DETAILS = "lockredisConnectionDetails";

    Boot3() {
    }

    @Override
    public String module() {
        return "lockredis-spring-boot-3 is for Spring Boot 3.1 to 3.5";
    }

    @Override
    public boolean supports(String bootVersion) {
        return bootVersion.matches("3\\.[1-9].*");
    }

    @Override
    public String prefix() {
        return "spring.data.redis";
    }

    @Override
    public String sslName() {
        return "ssl.enabled";
    }

    @Override
    public void connect(ConfigurableApplicationContext context, LockredisTopology topology) {
        RootBeanDefinition details = new RootBeanDefinition();
        details.setTargetType(RedisConnectionDetails.class);
        details.setInstanceSupplier(() -> new ServerDetails(topology, context));
        details.setPrimary(true); // if the application has details of its own
        ((BeanDefinitionRegistry) context.getBeanFactory()).registerBeanDefinition(DETAILS, details);
    }

    /** Spring takes the details first. Redisson's starter does not, unless it has a configuration of its own. */
    @Override
    public boolean prefersSections(ConfigurableListableBeanFactory beans, Environment environment) {
        boolean own = environment.containsProperty("spring.redis.redisson.config")
                || environment.containsProperty("spring.redis.redisson.file");
        return !own && Arrays.stream(beans.getBeanDefinitionNames())
                .anyMatch(name -> name.startsWith("org.redisson.spring.starter.RedissonAutoConfiguration"));
    }
}
