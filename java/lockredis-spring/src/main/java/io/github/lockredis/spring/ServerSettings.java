package io.github.lockredis.spring;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;

/**
 * The attributes of an annotation that a context's server depends on. They are part of the key in
 * Spring's context cache: test classes with equal settings share a context and its server.
 */
public final class ServerSettings {
    private final String password;
    private final List<String> directives;
    private final Topology topology;
    private final String masterName;
    private final String sentinelPassword;

    /**
     * @param password the password, or "" for the application's own
     * @param directives lines of a redis.conf
     */
    public ServerSettings(String password, String... directives) {
        this(password, Topology.SINGLE, "", "", directives);
    }

    /**
     * @param password the password, or "" for the application's own
     * @param topology what to start
     * @param masterName the name that Sentinels have for the server, or "" for the application's own
     * @param sentinelPassword the Sentinels' password, or "" for the application's own
     * @param directives lines of a redis.conf
     */
    public ServerSettings(String password, Topology topology, String masterName,
            String sentinelPassword, String... directives) {
        this.password = password;
        this.topology = topology;
        this.masterName = masterName;
        this.sentinelPassword = sentinelPassword;
        this.directives = Collections.unmodifiableList(new ArrayList<>(Arrays.asList(directives)));
    }

    Topology topology() {
        return topology;
    }

    /**
     * Returns a builder. What the settings leave open is the application's own: a server with its
     * passwords and its name lets it start as in production, with code that always sends them.
     */
    LockredisTopology.Builder builder(ConnectionProperties application) {
        LockredisTopology.Builder builder = LockredisTopology.builder(topology);
        builder.server(server -> server.directives(directives.toArray(new String[0])));
        String own = choose(password, application.own("password"));
        if (own != null) {
            builder.server(server -> server.password(own));
        }
        if (topology == Topology.SENTINEL || !masterName.isEmpty()) {
            String name = choose(masterName, application.own("sentinel.master"));
            builder.masterName(name == null ? "mymaster" : name);
        }
        if (topology == Topology.SENTINEL || !sentinelPassword.isEmpty()) {
            String secret = choose(sentinelPassword, application.own("sentinel.password"));
            if (secret != null) {
                builder.sentinelPassword(secret);
            }
        }
        return builder;
    }

    private static String choose(String setting, String application) {
        return setting.isEmpty() ? application : setting;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ServerSettings && values().equals(((ServerSettings) other).values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<Object> values() {
        return Arrays.asList(password, topology, masterName, sentinelPassword, directives);
    }
}
