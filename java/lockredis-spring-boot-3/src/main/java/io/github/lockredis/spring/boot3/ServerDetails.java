package io.github.lockredis.spring.boot3;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.ApplicationContext;
import org.springframework.util.ClassUtils;

/** The details of a connection to a topology. The number of the database is the application's. */
final class ServerDetails implements RedisConnectionDetails {
    private final LockredisTopology topology;
    private final LockredisServer server;
    private final ApplicationContext context;

    ServerDetails(LockredisTopology topology, ApplicationContext context) {
        this.topology = topology;
        this.server = topology.server();
        this.context = context;
    }

    /** Returns null for a server of our own: a password without a name is that of the user default. */
    @Override
    public String getUsername() {
        return server.username();
    }

    @Override
    public String getPassword() {
        return server.password();
    }

    /** Returns the number in the URL, which Spring Boot reads since 3.5, or the property. */
    private int database() {
        String path = URI.create(context.getEnvironment()
                .getProperty("spring.data.redis.url", "")).getPath();
        if (isBoot35() && path != null && path.length() > 1) {
            return Integer.parseInt(path.substring(1));
        }
        return context.getEnvironment()
                .getProperty("spring.data.redis.database", Integer.class, 0);
    }

    private static boolean isBoot35() {
        return ClassUtils.hasMethod(Standalone.class, "getSslBundle");
    }

    private List<Node> nodes() {
        List<Node> nodes = new ArrayList<>();
        for (String node : topology.nodes()) {
            int colon = node.lastIndexOf(':');
            nodes.add(new Node(node.substring(0, colon),
                    Integer.parseInt(node.substring(colon + 1))));
        }
        return nodes;
    }

    /** Returns null if there are Sentinels or a cluster: one of the three is not null. */
    @Override
    public Standalone getStandalone() {
        if (topology.kind() == Topology.SENTINEL || topology.kind() == Topology.CLUSTER) {
            return null;
        }
        // Spring Boot before 3.5 has no TLS in the details. It reads the property ssl.enabled.
        return server.isTls() && isBoot35()
                ? Tls.standalone(server, database(), context)
                : Standalone.of(server.host(), server.port(), database());
    }

    @Override
    public Sentinel getSentinel() {
        return topology.kind() == Topology.SENTINEL ? new Sentinels() : null;
    }

    @Override
    public Cluster getCluster() {
        return topology.kind() == Topology.CLUSTER ? new ClusterNodes() : null;
    }

    /** The details of Sentinels. They have no TLS. */
    private final class Sentinels implements Sentinel {
        @Override
        public int getDatabase() {
            return database();
        }

        @Override
        public String getMaster() {
            return topology.masterName();
        }

        @Override
        public List<Node> getNodes() {
            return nodes();
        }

        @Override
        public String getUsername() {
            return null;
        }

        @Override
        public String getPassword() {
            return topology.sentinelPassword();
        }
    }

    /** The details of a cluster. */
    private final class ClusterNodes implements Cluster {
        @Override
        public List<Node> getNodes() {
            return nodes();
        }

        /** Spring Boot 3.5 asks for it. */
        @Override
        public SslBundle getSslBundle() {
            return server.isTls() ? Tls.bundle(context) : null;
        }
    }

    /** Loaded with Spring Boot 3.5 only. */
    private static final class Tls {
        static Standalone standalone(LockredisServer server, int database,
                ApplicationContext context) {
            return Standalone.of(server.host(), server.port(), database, bundle(context));
        }

        /** Returns what the application trusts: its own bundle, or what the JVM trusts. */
        static SslBundle bundle(ApplicationContext context) {
            String name = context.getEnvironment().getProperty("spring.data.redis.ssl.bundle", "");
            return name.isEmpty() ? SslBundle.systemDefault()
                    : context.getBean(SslBundles.class).getBundle(name);
        }
    }
}
