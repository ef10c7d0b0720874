package io.github.lockredis.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The process of a server, and that of its Sentinels, through stops and starts. It knows which ends
 * nothing here has caused.
 */
final class Processes {
    private static final String TAKEN = "Another process took the port while nothing listened there";

    private final LockredisConfig config;
    private final LineQueue consumer; // null: the log of this JVM
    private final Sentinels sentinels; // null: none
    private final Pause pause;
    private final Snapshot snapshot; // null: a server begins without data
    private final List<String> ends = new ArrayList<>(); // guarded by this; of unexpectedEnd
    private volatile ServerProcess server; // written under this, which is held in starts and stops
    private volatile ServerProcess watchers; // the Sentinels'; written under this; may be null
    private volatile boolean broken; // the server does not answer as a test began it
    private boolean closed; // guarded by this

    Processes(LockredisConfig config, LineQueue consumer, Sentinels sentinels, Pause pause) {
        this.config = config;
        this.consumer = consumer;
        this.sentinels = sentinels;
        this.pause = pause;
        this.snapshot = Snapshot.read(config.snapshot());
    }

    /** Starts the server and its Sentinels. After an error nothing runs. */
    synchronized void start() {
        int port = config.port();
        String hint = "Without port(" + port + ") the server takes a free port";
        server = new Launch(config, port, consumer, port == 0 ? "" : hint).run();
        boolean started = false;
        try {
            load();
            startSentinels();
            started = true;
        } finally {
            if (!started) {
                close();
            }
        }
    }

    /** Loads the snapshot into a server that has started. */
    private void load() {
        try {
            if (snapshot != null) {
                snapshot.load(server.door);
            }
        } catch (IOException e) {
            throw new LockredisException("lockredis at " + server.endpoint.address() + " has started, and the snapshot"
                    + " is not loaded: " + e, e);
        }
    }

    /** Returns the file that the server begins with. Null: none. */
    Snapshot snapshot() {
        return snapshot;
    }

    /** Starts the Sentinels unless they run. After an end of theirs they have the same ports. */
    private void startSentinels() {
        ServerProcess before = watchers;
        if (sentinels == null || before != null && before.isServing()) {
            return;
        }
        if (before != null) {
            before.stop();
        }
        noteEnd(before, "The Sentinels of ");
        List<String> nodes = sentinels();
        String hint = before != null ? TAKEN : sentinels.port == 0 ? "" : "Without sentinelPort("
                + sentinels.port + ") the Sentinels take free ports";
        watchers = new Launch(config, consumer, sentinels,
                sentinels.line(server.endpoint.node(), nodes), hint).run();
    }

    /** Returns the server's process. */
    ServerProcess server() {
        return server;
    }

    /** Returns the Sentinels' addresses as host:port, empty without Sentinels. */
    List<String> sentinels() {
        ServerProcess beside = watchers;
        return beside == null ? Collections.emptyList() : beside.output.sentinels();
    }

    /** Returns the last lines of the server's log, and then the last lines of the Sentinels' log. */
    List<String> log() {
        List<String> lines = new ArrayList<>();
        for (ServerProcess from : Arrays.asList(server, watchers)) {
            if (from != null) {
                lines.addAll(from.output.lines());
            }
        }
        return lines;
    }

    /** Reports whether the server runs, and all of its Sentinels do. */
    boolean areServing() {
        ServerProcess beside = watchers;
        return server.isServing() && (beside == null || beside.isServing());
    }

    /** Reports whether the server, or one of its Sentinels, has ended or ends just now. */
    boolean end() {
        return !areServing() || server.ends();
    }

    /** Stops the server. A server that takes no commands gets a signal at once. */
    synchronized void stop() {
        server.stop(!broken);
    }

    /** Starts the server again on its port, and Sentinels that have ended. */
    synchronized void restart() {
        if (closed) {
            throw new LockredisException("lockredis at " + server.endpoint.address() + " is closed");
        }
        stop();
        noteEnd(server, "");
        pause.end();
        broken = false;
        server = new Launch(config, server.endpoint.port, consumer, TAKEN).at(server.endpoints).run();
        load();
        startSentinels();
    }

    /** Stops one of the servers. A server that takes no commands gets a signal at once. */
    synchronized void stop(int index) {
        if (!server.hasSeveral()) {
            stop();
            return;
        }
        if (isRunning(index)) {
            try {
                server.control(index, "STOP");
            } catch (IOException e) {
                throw new LockredisException("stop lockredis at " + server.endpoints.get(index).address()
                        + ": " + e.getMessage(), e);
            }
            server.stopped.add(index);
        }
    }

    /** Starts one of the servers again, and with it the process if that has ended. */
    synchronized void restart(int index) {
        if (!closed && !broken && server.hasSeveral() && server.isServing()) {
            try {
                server.control(index, "START");
                server.stopped.remove(index);
                return;
            } catch (IOException e) {
                // the server has ended for good: all start again
            }
        }
        restart();
    }

    /** Reports whether one of the servers runs, and the Sentinels do. */
    boolean isRunning(int index) {
        return areServing() && !server.stopped.contains(index);
    }

    /**
     * Notes that the server does not answer as before: {@link #replaceBroken} starts another one, and
     * {@link #unexpectedEnd} gives the reason.
     */
    synchronized void setBroken(String reason) {
        broken = true;
        ends.add("lockredis at " + server.endpoint.address() + " does not answer as before the test: "
                + reason + (reason.endsWith(".") ? "" : ".") + " The next test has a new server");
    }

    /** Replaces a server that {@link #setBroken} was called for. Reports whether it was. */
    synchronized boolean replaceBroken() {
        boolean replaced = broken;
        if (replaced) {
            replace(null);
        }
        return replaced;
    }

    /**
     * Starts the server again, empty. The process is killed: it may take no command, or not end.
     *
     * @param reason why, for {@link #unexpectedEnd}. Null: that is told already
     */
    synchronized void replace(String reason) {
        if (reason != null) {
            ends.add("lockredis at " + server.endpoint.address()
                    + " did not answer as before and was started again: " + reason);
        }
        server.kill();
        restart();
    }

    /** Returns the text of {@link LockredisServer#unexpectedEnd}. */
    synchronized String unexpectedEnd() {
        ask();
        noteEnd(server, "");
        noteEnd(watchers, "The Sentinels of ");
        String text = ends.isEmpty() ? null : String.join("\n", ends);
        ends.clear();
        return text;
    }

    /**
     * Asks the server whether it runs. So it notices an end that was begun a moment ago, such as an unread
     * SHUTDOWN.
     */
    private void ask() {
        if (closed || broken || !server.mustRun()) {
            return;
        }
        String reason = server.ask(LockredisServer.COMMAND_TIMEOUT);
        if (reason != null) {
            setBroken(reason);
        }
    }

    /** Notes the end of a process that ended by itself. Null: there is no process. */
    private void noteEnd(ServerProcess ended, String of) {
        String text = ended == null ? null
                : ended.unexpectedEnd(of + "lockredis at " + server.endpoint.address());
        if (text != null) {
            ends.add(text);
        }
    }

    /** Stops the server for good. */
    synchronized void close() {
        closed = true;
        stop();
    }

    /** Stops the Sentinels for good, if there are any. */
    synchronized void closeSentinels() {
        closed = true;
        if (watchers != null) {
            watchers.stop();
        }
    }
}
