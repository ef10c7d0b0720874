package io.github.lockredis.server;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Starts the process of a server, or of its Sentinels, and waits until they listen. The Sentinels'
 * process gets the server's directives too: its password, and the addresses to bind.
 */
final class Launch {
    /** How often a start is tried that fails because a thread just wrote the executable. */
    private static final int BUSY_TRIES = 10;
    /** The id of this JVM's process, "" if it is unknown. The server watches it. */
    static final String SELF = ProcessIds.self();

    private final LockredisConfig config;
    private final int port;
    private final LineQueue consumer;
    private final int sentinels; // 0: it is a server
    private final String sentinelPassword; // null: they have none
    private final String topology; // the line that starts the Sentinels, "" for a server
    private final String portHint;
    private final long deadline;
    private List<String> command = new ArrayList<>();
    private List<Endpoint> before = Collections.emptyList(); // where several servers listened

    /**
     * Prepares the start of a server on a port. 0 means a free port.
     *
     * @param portHint what to do when another process has the port
     */
    Launch(LockredisConfig config, int port, LineQueue consumer, String portHint) {
        this(config, port, consumer, null, "", portHint);
    }

    /**
     * Prepares the start of Sentinels.
     *
     * @param topology the line that starts them
     */
    Launch(LockredisConfig config, LineQueue consumer, Sentinels sentinels, String topology,
            String portHint) {
        this(config, 0, consumer, sentinels, topology, portHint);
    }

    private Launch(LockredisConfig config, int port, LineQueue consumer, Sentinels sentinels,
            String topology, String portHint) {
        this.config = config;
        this.port = port;
        this.consumer = consumer;
        this.sentinels = sentinels == null ? 0 : sentinels.count;
        this.sentinelPassword = sentinels == null ? null : sentinels.password;
        this.topology = topology;
        this.portHint = portHint;
        this.deadline = System.nanoTime() + config.startTimeout().toNanos();
    }

    /** Gives several servers the ports that they had. Returns this launch. */
    Launch at(List<Endpoint> before) {
        this.before = before;
        return this;
    }

    /** Returns how many servers a process with a config has. */
    static int servers(LockredisConfig config) {
        String topology = config.lastValue("topology");
        return topology != null && topology.matches("(cluster|primaries):[1-9]\\d{0,3}")
                ? Integer.parseInt(topology.substring(topology.indexOf(':') + 1)) : 1;
    }

    /** Returns a running server that accepts connections. */
    ServerProcess run() {
        ServerProcess server = SELF.isEmpty() ? null : run(SELF);
        if (server == null) {
            server = run("yes");
        }
        if (server == null) {
            ServerLog.warn("lockredis cannot watch this JVM's process (pidfd_open is missing or "
                    + "forbidden): a shutdown hook stops it, and a killed JVM leaves it behind");
            server = run("");
        }
        return server;
    }

    /**
     * Starts a server. Returns null when it cannot learn in this way that the JVM has ended.
     *
     * @param parent the value of exit-with-parent. "": the server runs on
     */
    private ServerProcess run(String parent) {
        byte[] file = ConfigText.portable(config.configFile());
        Output output = new Output(consumer, sentinels, servers(config));
        Process process = execute(parent);
        ServerProcess server = new ServerProcess(process, output, command);
        boolean ready = false;
        boolean late = false;
        try {
            feed(process, file);
            output.drain(process.getInputStream(), server.pid);
            ready = awaitReady(server);
            late = System.nanoTime() >= deadline;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LockredisException("start lockredis: interrupted", e);
        } finally {
            if (!ready) {
                server.stop(false);
            }
        }
        if (ready) {
            if (parent.isEmpty()) {
                server.stopAtExit();
            }
            return server;
        }
        // After the deadline it was stopped: the end of a script between is no refusal.
        if (!parent.isEmpty() && !late && System.nanoTime() < deadline
                && refuses(String.join("\n", output.lines()), parent)) {
            return null;
        }
        throw failed(server, late);
    }

    /**
     * Reports whether a server refused what it should watch: this system has no means for it, an
     * executable from before 0.3 takes no process id, or the server does not see the processes of
     * this JVM, because a script has put it into a container.
     */
    private static boolean refuses(String lines, String parent) {
        return lines.contains("exit-with-parent: pidfd_open") || !parent.equals("yes")
                && (lines.contains("exit-with-parent") && lines.contains("must be 'yes' or 'no'")
                || lines.contains("The parent process has ended"));
    }

    private boolean awaitReady(ServerProcess server) throws InterruptedException {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (!server.output.awaitReady(Math.max(0, left) + 1) || server.output.ended()) { // past the deadline
            return false;
        }
        if (sentinels > 0) {
            server.sentinels = sentinels(server.output.sentinels());
            return true;
        }
        for (String control : server.output.controls()) {
            server.doors.add(door(control));
        }
        List<Integer> ports = server.output.ports();
        for (int i = 0; i < server.doors.size(); i++) {
            boolean several = server.doors.size() > 1;
            server.endpoints.add(endpoint(several ? ports.get(i) : port == 0 ? server.output.port() : port));
        }
        server.door = server.doors.get(0);
        server.endpoint = server.endpoints.get(0);
        return true;
    }

    private List<Endpoint> sentinels(List<String> nodes) {
        List<Endpoint> found = new ArrayList<>();
        for (String node : nodes) {
            int colon = node.lastIndexOf(':');
            String host = node.substring(0, colon).replaceAll("[\\[\\]]", "");
            found.add(new Endpoint(host, Integer.parseInt(node.substring(colon + 1)), null,
                    sentinelPassword, 0, false, null));
        }
        return found;
    }

    /** Returns how this library controls a server that has printed "control=HOST:PORT SECRET". */
    private static Endpoint door(String control) {
        String[] words = control.split(" ");
        int colon = words[0].lastIndexOf(':');
        String host = words[0].substring(0, colon).replaceAll("[\\[\\]]", "");
        return new Endpoint(host, Integer.parseInt(words[0].substring(colon + 1)), null, words[1], 0, false, null);
    }

    /** Returns how clients reach the server at a port. */
    private Endpoint endpoint(int listening) {
        String bind = null;
        for (List<String> directive : config.directives()) {
            if (directive.get(0).equalsIgnoreCase("bind")) {
                bind = String.join(" ", directive.subList(1, directive.size()));
            }
        }
        String password = config.password();
        if (password == null) {
            password = config.lastValue("requirepass");
        }
        if (password == null) {
            password = ConfigText.lastValue(config.configFile(), "requirepass");
        }
        return new Endpoint(ConfigText.host(bind), listening, null,
                password == null || password.isEmpty() ? null : password, 0,
                config.certificate() != null, config.certificate());
    }

    /** Starts the process. Tries again when the executable is busy, and in the next folder. */
    private Process execute(String parent) {
        Path chosen = Executables.chosen(config);
        for (int busy = 0; ; ) {
            Path executable = chosen == null ? Executables.unpack() : chosen;
            command = command(executable, parent);
            try {
                return new ProcessBuilder(command).redirectErrorStream(true).start();
            } catch (IOException e) {
                String message = String.valueOf(e.getMessage());
                if (StartError.BUSY.matches(message) && busy < BUSY_TRIES) {
                    pause(++busy);
                } else if (chosen == null && StartError.DENIED.matches(message)) {
                    Executables.refuse(executable, StartError.hint(message));
                } else {
                    throw new LockredisException("start " + executable + ": "
                            + StartError.hint(message), e);
                }
            }
        }
    }

    private static void pause(int busy) {
        try {
            Thread.sleep(5L * busy);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LockredisException("start lockredis: interrupted", e);
        }
    }

    private List<String> command(Path executable, String parent) {
        List<String> command = new ArrayList<>();
        command.add(executable.toString());
        String listen = port == 0 ? "auto" : Integer.toString(port);
        if (config.certificate() == null && sentinels == 0) {
            command.addAll(Arrays.asList("--port", listen));
        } else if (sentinels == 0) {
            command.addAll(Arrays.asList("--port", "0", "--tls-port", listen));
        }
        if (!parent.isEmpty()) {
            command.addAll(Arrays.asList("--exit-with-parent", parent));
        }
        command.add("-"); // more directives on standard input: no quoting, no passwords in ps
        return command;
    }

    /** Writes the config file's directives, with their line numbers, and those of the builder. */
    private void feed(Process process, byte[] file) {
        try (OutputStream in = process.getOutputStream()) {
            in.write(file);
            in.write(directives().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // The process has ended already. Its output says why.
        }
    }

    private String directives() {
        StringBuilder text = new StringBuilder("enable-lock-commands yes\n");
        if (sentinels == 0) {
            text.append("control yes\n");
        }
        if (config.certificate() != null) {
            append(text, "tls-cert-file", config.certificate().toAbsolutePath().toString());
            append(text, "tls-key-file", config.privateKey().toAbsolutePath().toString());
            append(text, "tls-auth-clients", "no");
        }
        if (config.password() != null) {
            append(text, "requirepass", config.password());
        }
        for (List<String> directive : config.directives()) {
            text.append(ConfigText.line(directive));
        }
        if (before.size() > 1) {
            text.append("topology ").append(config.lastValue("topology")).append(" port ");
            for (Endpoint server : before) {
                text.append(server == before.get(0) ? "" : ",").append(server.port);
            }
            text.append('\n');
        }
        if (sentinels > 0) { // the files for the port and the process id are the server's
            text.append("port-file \"\"\npidfile \"\"\n").append(topology);
        }
        return text.toString();
    }

    private static void append(StringBuilder text, String name, String value) {
        text.append(ConfigText.line(Arrays.asList(name, value)));
    }

    /**
     * Describes a start that failed: the server's own line first, then everything that is known.
     *
     * @param late whether the time for the start was over, so that the process was stopped
     */
    private LockredisException failed(ServerProcess server, boolean late) {
        List<String> lines = server.output.lines();
        StringBuilder text = new StringBuilder();
        Integer code = server.exitCode;
        String reason = StartError.reason(lines);
        if (code == null || late) {
            text.append("lockredis did not listen within ").append(config.startTimeout().toMillis())
                    .append(" ms and was stopped");
        } else if (reason.isEmpty()) {
            text.append("lockredis ended with exit code ").append(code).append(" and printed nothing");
        } else {
            text.append(reason);
        }
        text.append(StartError.advice(reason, code, portHint));
        text.append("\n  command: ").append(String.join(" ", command));
        if (config.configFile() != null) {
            text.append("\n  config file: ").append(config.configFile());
        }
        if (code != null) {
            text.append("\n  exit code: ").append(code);
        }
        for (String line : lines) {
            text.append("\n  | ").append(line);
        }
        return new LockredisException(text.toString());
    }
}
