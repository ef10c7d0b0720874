package io.github.lockredis.spring;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.util.StringUtils;

/**
 * The properties that tell the application where the server is. All of them are set, for the same
 * server: clients differ in which ones they prefer. Spring Boot takes the URL before host and port,
 * Redisson's starter on Boot 2.7 reads only host and port.
 */
final class ConnectionProperties {
    /** The value of a property whose placeholder has none: "${REDIS_PASSWORD}". */
    private static final String STAND_IN = "lockredis";

    private static final String SOURCE = "lockredis";

    private final ConfigurableEnvironment environment;
    private final String prefix; // with a dot
    private final String sslName;

    ConnectionProperties(ConfigurableEnvironment environment, Generation generation) {
        this.environment = environment;
        this.prefix = generation.prefix() + ".";
        this.sslName = generation.sslName();
    }

    /**
     * Returns a property of the application, or null. A password in the URL needs none of this: only
     * the number of the database stays of the URL.
     */
    String own(String name) {
        try {
            String value = environment.getProperty(prefix + name);
            return StringUtils.hasLength(value) ? value : null;
        } catch (IllegalArgumentException e) {
            return STAND_IN;
        }
    }

    private boolean has(String name) {
        return environment.containsProperty(prefix + name);
    }

    /**
     * Returns the path of the application's URL, "/5", with the number of its database. Spring Boot
     * 3.5 and Redisson's starter use it. "" without a path.
     */
    private String database() {
        String url = own("url");
        try {
            String path = url == null ? null : URI.create(url).getPath();
            return path != null && path.startsWith("/") ? path : "";
        } catch (IllegalArgumentException e) { // no URL: the client would refuse it
            return "";
        }
    }

    /**
     * Sets the properties for a topology, above all others. A second call moves them above those that
     * were added since.
     */
    void set(LockredisTopology topology) {
        LockredisServer server = topology.server();
        Map<String, Object> values = new LinkedHashMap<>();
        values.put(prefix + "host", server.host());
        values.put(prefix + "port", server.port());
        values.put(prefix + "url",
                server.isAttached() ? server.uri() : server.uri() + database());
        values.put(prefix + sslName, server.isTls());
        String password = server.password();
        if (password != null || has("password")) {
            values.put(prefix + "password", password == null ? "" : password);
        }
        String user = server.username();
        if (user != null || has("username")) {
            values.put(prefix + "username", user != null ? user : password == null ? "" : "default");
        }
        if (server.isAttached()) {
            values.put(prefix + "database", server.database()); // the one that flush empties
        }
        String nodes = String.join(",", topology.nodes());
        if (topology.kind() == Topology.CLUSTER) {
            values.put(prefix + "cluster.nodes", nodes);
        } else if (topology.kind() == Topology.SENTINEL) {
            values.put(prefix + "sentinel.master", topology.masterName());
            values.put(prefix + "sentinel.nodes", nodes);
            String secret = topology.sentinelPassword();
            if (secret != null || has("sentinel.password")) {
                values.put(prefix + "sentinel.password", secret == null ? "" : secret);
            }
            if (has("sentinel.username")) {
                values.put(prefix + "sentinel.username", secret == null ? "" : "default");
            }
        }
        environment.getPropertySources().addFirst(new MapPropertySource(SOURCE, values));
    }
}
