package io.github.lockredis.spring;

import io.github.lockredis.server.LockredisTopology;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;

/**
 * What a generation of Spring Boot does in its own way. Each module for a generation implements it, and names
 * its class in META-INF/spring.factories.
 */
public interface Generation {
    /** Returns the module's name, and the versions of Spring Boot that it is for. */
    String module();

    /** Reports whether the module is for a version of Spring Boot. */
    boolean supports(String bootVersion);

    /** Returns the prefix of the properties for Redis: spring.data.redis. */
    String prefix();

    /** Returns the property that switches TLS on, without the prefix. */
    String sslName();

    /** Adds to a context what the properties alone do not say. */
    void connect(ConfigurableApplicationContext context, LockredisTopology topology);

    /**
     * Reports whether a client of the application takes the properties for Sentinels or a cluster before those
     * for a single server. All properties, and the definitions of beans, are known.
     */
    boolean prefersSections(ConfigurableListableBeanFactory beans, Environment environment);
}
