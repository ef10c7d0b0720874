package lockredis;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;

/**
 * A server under test: either the server started by the suite's launcher (redis.host,
 * redis.port), or a scenario's own server, started from server.command. Scenarios that stop,
 * pause, flush or protect a server need their own.
 */
final class Server implements AutoCloseable {
    private static final long START_MS = 10_000;
    private static final long CLUSTER_MS = 20_000;
    private static Server shared;
    private static final int NODES = 3;
    private static final int SLOTS = 16384;
    private static Server cluster;
    private static List<Server> nodes = List.of();

    private final String host;
    private final int port;
    private final List<String> options;
    private Process process;

    private Server(String host, int port, List<String> options) {
        this.host = host;
        this.port = port;
        this.options = options;
    }

    /** The server that most scenarios share. It is started here if the launcher gave none. */
    static synchronized Server shared() {
        if (shared == null) {
            String port = System.getProperty("redis.port", "");
            shared = port.isEmpty()
                    ? start("--notify-keyspace-events", "KEA")
                    : new Server(System.getProperty("redis.host", "127.0.0.1"), Integer.parseInt(port), List.of());
        }
        return shared;
    }

    /**
     * A cluster of one node, for the scenarios with {@link OnCluster}. A new node of redis-server
     * has no slots and does not know its address; it serves commands after two seconds.
     */
    static synchronized Server cluster() {
        if (cluster == null) {
            Server node = start("--cluster-enabled", "yes", "--cluster-port", String.valueOf(freePort()));
            try (Jedis jedis = node.observe()) {
                if (jedis.clusterInfo().contains("cluster_slots_assigned:0")) {
                    jedis.configSet("cluster-announce-ip", node.host);
                    jedis.sendCommand(Protocol.Command.CLUSTER, "ADDSLOTSRANGE", "0", "16383");
                }
                Await.until("the cluster", CLUSTER_MS, () -> jedis.clusterInfo().contains("cluster_state:ok"));
            }
            cluster = node;
        }
        return cluster;
    }

    /**
     * Three masters that share the slots. lockredis runs them in one process. Those of redis-server need some
     * seconds to meet.
     */
    static synchronized List<Server> nodes() {
        if (nodes.isEmpty()) {
            nodes = command().endsWith("lockredis") ? topology() : meeting();
            for (Server node : nodes) {
                try (Jedis jedis = node.observe()) {
                    Await.until("the cluster", CLUSTER_MS, () -> jedis.clusterInfo().contains("cluster_state:ok")
                            && jedis.clusterInfo().contains("cluster_size:3"));
                }
            }
        }
        return nodes;
    }

    private static List<Server> topology() {
        int port = freePorts(NODES);
        Server first = launched(port, "--topology", "cluster:" + NODES);
        return List.of(first, new Server(first.host, port + 1, first.options), new Server(first.host, port + 2, first.options));
    }

    private static List<Server> meeting() {
        List<Server> all = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            String bus = String.valueOf(freePort());
            Server node = start("--cluster-enabled", "yes", "--cluster-port", bus);
            all.add(node);
            try (Jedis jedis = node.observe(); Jedis first = all.get(0).observe()) {
                jedis.sendCommand(Protocol.Command.CLUSTER, "ADDSLOTSRANGE", String.valueOf(i * SLOTS / NODES),
                        String.valueOf((i + 1) * SLOTS / NODES - 1));
                jedis.sendCommand(Protocol.Command.CLUSTER, "SET-CONFIG-EPOCH", String.valueOf(i + 1));
                if (i > 0) {
                    first.sendCommand(Protocol.Command.CLUSTER, "MEET", node.host, String.valueOf(node.port), bus);
                }
            }
        }
        return all;
    }

    private static String command() {
        return System.getProperty("server.command", "redis-server");
    }

    boolean isCluster() {
        return options.contains("--cluster-enabled") || options.contains("--topology");
    }

    /** A new server on a free port, with redis-server's options. */
    static Server start(String... options) {
        return launched(freePort(), options);
    }

    private static Server launched(int port, String... options) {
        Server server = new Server("127.0.0.1", port, List.of(options));
        server.launch();
        Runtime.getRuntime().addShutdownHook(new Thread(server::close));
        return server;
    }

    String host() {
        return host;
    }

    int port() {
        return port;
    }

    String address() {
        return "redis://" + host + ":" + port;
    }

    /** An observer's connection that does not use Redisson. The caller closes it. */
    Jedis observe() {
        return new Jedis(host, port, 5_000);
    }

    /** The number of calls of a command so far, including calls from scripts. */
    static long calls(Jedis jedis, String command) {
        String start = "cmdstat_" + command + ":calls=";
        return jedis.info("commandstats").lines().filter(line -> line.startsWith(start)).findFirst()
                .map(line -> Long.parseLong(line.substring(start.length(), line.indexOf(',')))).orElse(0L);
    }

    /** Starts the server again on its port after a stop. */
    void launch() {
        List<String> command = new ArrayList<>(List.of(command(),
                "--port", String.valueOf(port), "--bind", host, "--save", "", "--appendonly", "no"));
        command.addAll(options);
        try {
            File dir = Files.createTempDirectory("server").toFile();
            dir.deleteOnExit();
            process = new ProcessBuilder(command).directory(dir).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        } catch (IOException e) {
            throw new IllegalStateException("cannot start " + command, e);
        }
        Await.until("a server on port " + port, START_MS, this::answers);
    }

    /** Kills the server, as a crash does, and waits for its end. */
    void stop() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        if (process != null) {
            process.destroyForcibly();
        }
    }

    /** A server with a password also counts as ready. */
    private boolean answers() {
        try (Jedis jedis = observe()) {
            jedis.ping();
            return true;
        } catch (RuntimeException e) {
            return String.valueOf(e.getMessage()).startsWith("NOAUTH");
        }
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The first of n free ports in a row. */
    private static int freePorts(int n) {
        for (int tries = 0; tries < 100; tries++) {
            int first = freePort();
            List<ServerSocket> held = new ArrayList<>();
            try {
                for (int i = 0; i < n; i++) {
                    held.add(new ServerSocket(first + i));
                }
                return first;
            } catch (IOException | IllegalArgumentException e) {
                // one is in use
            } finally {
                for (ServerSocket socket : held) {
                    try {
                        socket.close();
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }
        }
        throw new IllegalStateException("no " + n + " free ports in a row");
    }
}
