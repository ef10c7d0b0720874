package io.github.lockredis.spring;

import io.github.lockredis.server.Topology;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;

/** Finds the application's sections for Sentinel and Cluster. They win over host, port and URL. */
final class SeveralServers {
    private SeveralServers() {
    }

    /**
     * Returns a property of sections and the place where it is set, for an error message:
     * {@code spring.redis.sentinel.master (class path resource [application.yml] - 5:15)}. Null means
     * that there is none.
     *
     * @param prefix spring.redis, or spring.data.redis
     */
    static String property(Environment environment, String prefix, String... sections) {
        for (String section : sections) {
            ConfigurationPropertyName above = ConfigurationPropertyName.of(prefix + "." + section);
            for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
                String found = property(source, above);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    /** Returns the sections that win over the properties of a topology. Sentinel's comes first. */
    static String[] above(Topology topology) {
        switch (topology) {
            case SENTINEL:
                return new String[0];
            case CLUSTER:
                return new String[] {"sentinel"};
            default:
                return new String[] {"sentinel", "cluster"};
        }
    }

    /**
     * Fails if the application has a section that wins over the properties of a topology.
     *
     * @throws IllegalStateException with the property's name and place
     */
    static void refuse(Environment environment, String prefix, Topology topology) {
        String property = property(environment, prefix, above(topology));
        if (property != null) {
            throw new IllegalStateException("@AutoConfigureLockredis: the application connects to"
                    + " other servers because of " + property + ", and lockredis is "
                    + name(topology) + ". Choose the annotation's topology, or move the section to a"
                    + " profile that tests do not have");
        }
    }

    /** Returns a topology as a part of a sentence. */
    static String name(Topology topology) {
        switch (topology) {
            case SENTINEL:
                return "a server behind Sentinels";
            case CLUSTER:
                return "a cluster";
            case PRIMARIES:
                return "independent servers, of which the application has the first";
            case PROXY:
                return "a proxy, which is a single server for clients";
            default:
                return "a single server";
        }
    }

    private static String property(ConfigurationPropertySource source, ConfigurationPropertyName above) {
        if (!(source instanceof IterableConfigurationPropertySource)) {
            return null;
        }
        for (ConfigurationPropertyName name : (IterableConfigurationPropertySource) source) {
            if (above.isAncestorOf(name)) {
                Object origin = source.getConfigurationProperty(name).getOrigin();
                return origin == null ? name.toString() : name + " (" + origin + ")";
            }
        }
        return null;
    }
}
