package io.github.lockredis.spring;

import java.util.List;
import java.util.stream.Collectors;

import io.github.lockredis.server.Attributes;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.util.ClassUtils;

/**
 * Starts a server for an application context and points the context's Redis clients at it. Its attributes are
 * a part of the key in Spring's context cache: test classes with equal attributes share a context and its server.
 *
 * <p>The context owns the server and stops it last, after its clients. So the server lives as long as
 * Spring's context cache keeps the context, and no client loses its server before it is closed.
 */
final class LockredisCustomizer implements ContextCustomizer {
    private static final String STARTER =
            "org.redisson.spring.starter.RedissonAutoConfigurationCustomizer";

    private final Attributes attributes;

    LockredisCustomizer(Attributes attributes) {
        this.attributes = attributes;
    }

    /**
     * Returns the generation for a version of Spring Boot. Null as the version: unknown.
     *
     * @throws IllegalStateException if there is none, with the modules that there are
     */
    static Generation choose(List<Generation> generations, String bootVersion) {
        for (Generation generation : generations) {
            if (bootVersion == null || generation.supports(bootVersion)) {
                return generation;
            }
        }
        throw new IllegalStateException("@AutoConfigureLockredis: " + (generations.isEmpty()
                ? "lockredis-spring needs lockredis-spring-boot-3 or lockredis-spring-boot-2"
                : generations.stream().map(Generation::module).collect(Collectors.joining(", ")))
                + ". This is Spring Boot " + bootVersion);
    }

    @Override
    public void customizeContext(ConfigurableApplicationContext context,
            MergedContextConfiguration configuration) {
        Generation generation = choose(SpringFactoriesLoader.loadFactories(Generation.class,
                Generation.class.getClassLoader()), SpringBootVersion.getVersion());
        ConnectionProperties properties =
                new ConnectionProperties(context.getEnvironment(), generation);
        LockredisTopology topology = topologyOfParent(context);
        if (topology == null) {
            topology = builder(properties).start();
            own((DefaultListableBeanFactory) context.getBeanFactory(), topology);
        }
        properties.set(topology);
        generation.connect(context, topology);
        if (ClassUtils.isPresent(STARTER, context.getClassLoader())) {
            RedissonStarter.register(context, topology, generation.prefix());
        }
        context.getBeanFactory().addBeanPostProcessor(new OtherServers(topology, generation.prefix()));
        context.addBeanFactoryPostProcessor(
                new LastWord(generation, context.getEnvironment(), properties, topology));
    }

    /**
     * Returns a builder. What the attributes leave open is the application's own: a server with its passwords
     * and its name lets it start as in production, with code that always sends them.
     */
    private LockredisTopology.Builder builder(ConnectionProperties application) {
        Attributes all = attributes.orElse("password", application.own("password"));
        if (all.topology() == Topology.SENTINEL) {
            all = all.orElse("masterName", application.own("sentinel.master"))
                    .orElse("sentinelPassword", application.own("sentinel.password"));
        }
        return all.builder();
    }

    /** Returns what the parent in a hierarchy of contexts has, or null. */
    private static LockredisTopology topologyOfParent(ConfigurableApplicationContext context) {
        BeanFactory parent = context.getParent();
        return parent != null && parent.containsBean(ServerUse.TOPOLOGY)
                ? parent.getBean(ServerUse.TOPOLOGY, LockredisTopology.class) : null;
    }

    /**
     * Registers the topology and its server as beans. A context destroys its beans in the reverse
     * order of their registration, and these are the first.
     */
    private static void own(DefaultListableBeanFactory beans, LockredisTopology topology) {
        beans.registerSingleton(ServerUse.TOPOLOGY, topology);
        beans.registerDisposableBean(ServerUse.TOPOLOGY, topology.closeOnlyBy("Spring")::run);
        beans.registerSingleton(ServerUse.SERVER, topology.server());
        beans.registerSingleton(ServerUse.BEAN, new ServerUse(topology.server()));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LockredisCustomizer
                && attributes.equals(((LockredisCustomizer) other).attributes);
    }

    @Override
    public int hashCode() {
        return attributes.hashCode();
    }

    /** Keeps the server's properties above all others, before beans are defined and after. */
    private static final class LastWord implements BeanDefinitionRegistryPostProcessor {
        private final Generation generation;
        private final ConfigurableEnvironment environment;
        private final ConnectionProperties properties;
        private final LockredisTopology topology;

        LastWord(Generation generation, ConfigurableEnvironment environment,
                ConnectionProperties properties, LockredisTopology topology) {
            this.generation = generation;
            this.environment = environment;
            this.properties = properties;
            this.topology = topology;
        }

        @Override
        public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
            properties.set(topology); // above the properties of @DynamicPropertySource
        }

        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
            properties.set(topology);
            if (generation.prefersSections(beans, environment)) {
                SeveralServers.refuse(environment, generation.prefix(), topology.kind());
            }
        }
    }
}
