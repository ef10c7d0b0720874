package io.github.lockredis.spring;

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
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.util.ClassUtils;

/**
 * Starts a server for an application context and points the context's Redis clients at it. The
 * modules for the generations of Spring Boot extend it.
 *
 * <p>The context owns the server and stops it last, after its clients. So the server lives as long as
 * Spring's context cache keeps the context, and no client loses its server before it is closed.
 */
public abstract class LockredisContextCustomizer implements ContextCustomizer {
    private static final String STARTER =
            "org.redisson.spring.starter.RedissonAutoConfigurationCustomizer";

    private final ServerSettings settings;

    /** @param settings the server's; they are the customizer's identity too */
    protected LockredisContextCustomizer(ServerSettings settings) {
        this.settings = settings;
    }

    /** Returns the prefix of the properties for Redis: spring.data.redis. */
    protected abstract String prefix();

    /** Returns the property that switches TLS on, without the prefix. */
    protected abstract String sslName();

    /** Returns the module's name, and the versions of Spring Boot that it is for. */
    protected abstract String module();

    /** Reports whether the module is for a version of Spring Boot. */
    protected abstract boolean supports(String bootVersion);

    /** Adds to a context what the properties alone do not say. */
    protected abstract void connect(ConfigurableApplicationContext context,
            LockredisTopology topology);

    /**
     * Checks the application's properties, when all of them and the definitions of beans are known.
     *
     * @throws IllegalStateException if the application would connect to another Redis
     */
    protected void check(ConfigurableListableBeanFactory beans, ConfigurableEnvironment environment,
            Topology topology) {
    }

    @Override
    public final void customizeContext(ConfigurableApplicationContext context,
            MergedContextConfiguration configuration) {
        String version = SpringBootVersion.getVersion();
        if (version != null && !supports(version)) {
            throw new IllegalStateException("@AutoConfigureLockredis: " + module()
                    + ". This is Spring Boot " + version);
        }
        ConnectionProperties properties =
                new ConnectionProperties(context.getEnvironment(), prefix());
        LockredisTopology topology = topologyOfParent(context);
        if (topology == null) {
            topology = settings.builder(properties).start();
            own((DefaultListableBeanFactory) context.getBeanFactory(), topology);
        }
        properties.set(topology, sslName());
        connect(context, topology);
        if (ClassUtils.isPresent(STARTER, context.getClassLoader())) {
            RedissonStarter.register(context, topology, prefix());
        }
        context.addBeanFactoryPostProcessor(
                new LastWord(context.getEnvironment(), properties, topology));
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
    public final boolean equals(Object other) {
        return other != null && getClass() == other.getClass()
                && settings.equals(((LockredisContextCustomizer) other).settings);
    }

    @Override
    public final int hashCode() {
        return settings.hashCode();
    }

    /** Keeps the server's properties above all others, before beans are defined and after. */
    private final class LastWord implements BeanDefinitionRegistryPostProcessor {
        private final ConfigurableEnvironment environment;
        private final ConnectionProperties properties;
        private final LockredisTopology topology;

        LastWord(ConfigurableEnvironment environment, ConnectionProperties properties,
                LockredisTopology topology) {
            this.environment = environment;
            this.properties = properties;
            this.topology = topology;
        }

        @Override
        public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
            properties.set(topology, sslName()); // above those of @DynamicPropertySource
        }

        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
            properties.set(topology, sslName());
            check(beans, environment, topology.kind());
        }
    }
}
