package io.github.lockredis.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Servers as production's clients expect them: behind Sentinels, as a Redis Cluster, as independent primaries, or
 * behind a proxy. So a test uses production's configuration of the client. The nodes are on free ports of 127.0.0.1:
 * the servers in a process, and Sentinels in another one. They end with {@link #close}, and in any case with this
 * JVM.
 *
 * <pre>{@code
 * try (LockredisTopology topology = LockredisServer.sentinel()) {
 *     Config config = new Config();
 *     config.useSentinelServers()
 *             .setMasterName(topology.masterName())
 *             .addSentinelAddress(topology.redissonAddresses());
 *     ...
 *     topology.server().assertNoLeaks();
 * }
 * }</pre>
 *
 * <p>There are no replicas: Sentinels report a stopped server as down, and do not fail over.
 *
 * <p>All methods may be called by several threads at once.
 */
public final class LockredisTopology implements AutoCloseable {
    private final Topology kind;
    private final Sentinels sentinels; // null: none
    private final LockredisServer server;
    private final List<String> nodes;

    private LockredisTopology(Builder from, LockredisServer.Builder values) {
        kind = from.kind;
        sentinels = kind == Topology.SENTINEL ? new Sentinels(from) : null;
        server = LockredisServer.start(values, sentinels);
        nodes = sentinels == null
                ? Collections.unmodifiableList(addresses(server.group()))
                : Collections.unmodifiableList(server.sentinelNodes());
    }

    private LockredisTopology(LockredisServer server) {
        kind = Topology.SINGLE;
        sentinels = null;
        this.server = server;
        nodes = Collections.singletonList(server.host() + ":" + server.port());
    }

    /** Returns a server that is alone as a topology. The server's {@link LockredisServer#close} ends both. */
    public static LockredisTopology of(LockredisServer server) {
        return new LockredisTopology(Objects.requireNonNull(server, "of(null): give a server"));
    }

    private static List<String> addresses(List<LockredisServer> servers) {
        List<String> addresses = new ArrayList<>();
        for (LockredisServer server : servers) {
            addresses.add(server.host() + ":" + server.port());
        }
        return addresses;
    }

    /** Returns a builder. With {@link Topology#SINGLE} it is a server alone. */
    public static Builder builder(Topology kind) {
        return new Builder(kind);
    }

    /** Returns what it is. */
    public Topology kind() {
        return kind;
    }

    /**
     * Returns the server that has the data. Its methods show locks and leaks, delete the data, and
     * make outages: Sentinels run on when it stops, and see it again after restart. They take
     * {@link Builder#downAfter} to notice.
     */
    public LockredisServer server() {
        return server;
    }

    /**
     * Returns all servers: the nodes of a cluster, or the primaries, in order. Otherwise it is the one of
     * {@link #server}. Each has locks, leaks, a clock and outages of its own. The first one is the one that
     * {@link EndWatch} and {@link LeakCheck} take: they look after all.
     */
    public List<LockredisServer> servers() {
        return server.group();
    }

    /**
     * Returns one of {@link #servers}, from 0 on. Its stop and restart are an outage of this node: the others of a
     * cluster see it as failed meanwhile.
     *
     * @throws IndexOutOfBoundsException if there is none
     */
    public LockredisServer node(int index) {
        return servers().get(index);
    }

    /**
     * Returns the clock of all {@link #servers}: it turns them together. Each has a clock of its own, too:
     * {@link LockredisServer#clock}.
     *
     * @throws UnsupportedOperationException on an attached Redis
     */
    public ServerClock clock() {
        server.clock(); // throws if the server has none
        return new ServerClock(servers());
    }

    /**
     * Returns the addresses that a client's configuration names, as host:port. They are those of
     * the Sentinels, else those of {@link #servers}.
     */
    public List<String> nodes() {
        return nodes;
    }

    /** Returns {@link #nodes} as Redisson's addSentinelAddress and addNodeAddress take them. */
    public String[] redissonAddresses() {
        String[] addresses = new String[nodes.size()];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = (server.isTls() ? "rediss://" : "redis://") + nodes.get(i);
        }
        return addresses;
    }

    /** Returns the name by which Sentinels know the server: mymaster. Null without Sentinels. */
    public String masterName() {
        return sentinels == null ? null : sentinels.masterName;
    }

    /** Returns the server's password, or null. */
    public String password() {
        return server.password();
    }

    /** Returns the Sentinels' own password, or null. */
    public String sentinelPassword() {
        return sentinels == null ? null : sentinels.password;
    }

    /**
     * Returns the address as Lettuce's RedisURI takes it, with the server's password:
     * {@code redis-sentinel://:secret@127.0.0.1:40124,127.0.0.1:40125?sentinelMasterId=mymaster}.
     * Without Sentinels it is the server's. The URI has no place for the Sentinels' password.
     */
    public String uri() {
        if (sentinels == null) {
            return server.uri();
        }
        String user = password() == null ? "" : ":" + Endpoint.encode(password()) + "@";
        return "redis-sentinel://" + user + String.join(",", nodes) + "?sentinelMasterId="
                + Endpoint.encode(masterName());
    }

    /**
     * Refuses {@link #close}, and that of the server. Returns the one call that does it in its place: see
     * {@link LockredisServer#closeOnlyBy}.
     */
    public Runnable closeOnlyBy(String owner) {
        server.own(owner);
        return this::end;
    }

    /**
     * Ends all nodes. Does nothing the second time.
     *
     * @throws IllegalStateException after {@link #closeOnlyBy}
     */
    @Override
    public void close() {
        server.requireNoOwner();
        end();
    }

    private void end() {
        server.closeSentinels();
        server.end();
    }

    @Override
    public String toString() {
        if (nodes.size() > 1 && kind != Topology.SENTINEL) {
            return "lockredis at " + String.join(", ", nodes);
        }
        return kind == Topology.SENTINEL
                ? "Sentinels at " + String.join(", ", nodes) + " of " + server : server.toString();
    }

    /** Collects the values for a topology. It may be used for several ones, by one thread. */
    public static final class Builder {
        private final Topology kind;
        private int nodes; // 0: the default
        int sentinels = 3;
        int sentinelPort;
        String masterName = "mymaster";
        String sentinelPassword;
        Duration downAfter;
        int quorum;
        private final List<Consumer<LockredisServer.Builder>> setup = new ArrayList<>();

        private Builder(Topology kind) {
            this.kind = Objects.requireNonNull(kind,
                    "builder(null): give a topology, such as Topology.CLUSTER");
        }

        /** Sets values of the server: {@code server -> server.password("secret")}. */
        public Builder server(Consumer<LockredisServer.Builder> setup) {
            this.setup.add(Objects.requireNonNull(setup, "server(null): give a function that sets the"
                    + " server's values, or leave the call out"));
            return this;
        }

        /** Returns the values of the server that were collected so far. */
        public LockredisConfig serverConfig() {
            return server().config();
        }

        /**
         * Sets the number of servers: a cluster's nodes, or the primaries, or the nodes that a proxy stands for. The
         * default is 1 for a cluster, else 3. A port that is given is the first one's; the others have the ports
         * behind it.
         *
         * @throws IllegalArgumentException if it is not in 1 to 1000
         * @throws IllegalStateException if the topology is another one
         */
        public Builder nodes(int count) {
            if (kind == Topology.SINGLE || kind == Topology.SENTINEL) {
                throw new IllegalStateException("nodes: the topology " + kind + " has one server");
            }
            requireRange("nodes", count, 1, 1000);
            this.nodes = count;
            return this;
        }

        /** Sets the number of Sentinels, 1 to 15. The default is 3. */
        public Builder sentinels(int count) {
            requireSentinels("sentinels");
            requireRange("sentinels", count, 1, 15);
            this.sentinels = count;
            return this;
        }

        /**
         * Sets the port of the first Sentinel; the others have the ports behind it. The default, 0,
         * means free ports: choose a port only if you must.
         */
        public Builder sentinelPort(int port) {
            requireSentinels("sentinelPort");
            requireRange("sentinelPort", port, 0, 65520);
            this.sentinelPort = port;
            return this;
        }

        /** Sets the name by which the Sentinels know the server. The default is mymaster. */
        public Builder masterName(String name) {
            requireSentinels("masterName");
            this.masterName = requireWord("masterName", name);
            return this;
        }

        /**
         * Sets the password of the Sentinels. By default they have none.
         *
         * @throws IllegalArgumentException if it has more than 16384 bytes in UTF-8: no client can send it
         */
        public Builder sentinelPassword(String password) {
            requireSentinels("sentinelPassword");
            this.sentinelPassword = LockredisConfig.requireShort("sentinelPassword",
                    requireWord("sentinelPassword", password));
            return this;
        }

        /** Sets how long the server may be silent until it counts as down. The default is 30 s. */
        public Builder downAfter(Duration time) {
            requireSentinels("downAfter");
            Objects.requireNonNull(time,
                    "downAfter(null): give a time, or leave the call out for 30 seconds");
            if (time.compareTo(Duration.ofMillis(1)) < 0
                    || time.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
                throw new IllegalArgumentException("downAfter " + time
                        + " is not in 1 ms to 2147483647 ms");
            }
            this.downAfter = time;
            return this;
        }

        /** Sets how many Sentinels must agree that the server is down. Default: the majority. */
        public Builder quorum(int sentinels) {
            requireSentinels("quorum");
            requireRange("quorum", sentinels, 1, 15);
            this.quorum = sentinels;
            return this;
        }

        private static void requireRange(String what, int value, int least, int most) {
            if (value < least || value > most) {
                throw new IllegalArgumentException(what + " " + value + " is not in " + least
                        + " to " + most);
            }
        }

        /** Returns the text. The error does not show it: it may be a password. */
        private static String requireWord(String what, String text) {
            if (!Objects.requireNonNull(text, what + "(null): give a text, or leave the call out"
                    + " for the default").matches("\\S+")) {
                throw new IllegalArgumentException(what + " is empty or has white space");
            }
            return text;
        }

        private void requireSentinels(String value) {
            if (kind != Topology.SENTINEL) {
                throw new IllegalStateException(value + ": the topology " + kind
                        + " has no Sentinels");
            }
        }

        /**
         * Starts all nodes. It returns when the Sentinels, or the nodes of a cluster, know each other.
         *
         * @throws IllegalArgumentException if the quorum is more than the number of Sentinels
         * @throws LockredisException if a node does not start, and with lockredis.uri: that is the
         *     address of a single server
         */
        public LockredisTopology start() {
            if (quorum > sentinels) {
                throw new IllegalArgumentException("quorum " + quorum + " is not in 1 to "
                        + sentinels + ", the number of Sentinels");
            }
            if (kind != Topology.SINGLE && Executables.setting("lockredis.uri") != null) {
                throw new LockredisException("lockredis.uri is the address of a single server, and"
                        + " the topology " + kind + " needs others. Leave this test out, for"
                        + " example with @DisabledIfSystemProperty(named = \"lockredis.uri\","
                        + " matches = \".+\") and @DisabledIfEnvironmentVariable(named ="
                        + " \"LOCKREDIS_URI\", matches = \".+\")");
            }
            if (kind == Topology.SENTINEL && server().certificate != null) {
                throw new LockredisException("the topology SENTINEL needs a server without TLS");
            }
            LockredisServer.Builder server = server();
            if (server.certificate != null && Launch.servers(server.config()) > 1) {
                throw new LockredisException("the topology " + kind + " needs servers without TLS");
            }
            return new LockredisTopology(this, server);
        }

        private LockredisServer.Builder server() {
            LockredisServer.Builder server = LockredisServer.builder();
            for (Consumer<LockredisServer.Builder> values : setup) {
                values.accept(server);
            }
            if (kind == Topology.PRIMARIES || kind == Topology.PROXY) {
                server.directive("topology", kind.name().toLowerCase(Locale.ROOT) + ":"
                        + (nodes == 0 ? 3 : nodes));
            } else if (kind == Topology.CLUSTER && nodes > 1) {
                server.directive("topology", "cluster:" + nodes);
            } else if (kind == Topology.CLUSTER) {
                server.directive("cluster-enabled", "yes");
                if (server.certificate != null) {
                    server.directive("tls-cluster", "yes"); // clients learn the port for TLS
                }
            }
            return server;
        }
    }
}
