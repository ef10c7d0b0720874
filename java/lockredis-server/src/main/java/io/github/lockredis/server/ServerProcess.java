package io.github.lockredis.server;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** One process of a server or of its Sentinels, from its start to its end. */
final class ServerProcess {
    /** How long the server has for PING and SHUTDOWN, in milliseconds. Then a signal stops it. */
    private static final int PATIENCE = 1000;
    /** How long the server has to end after a signal, in seconds. */
    private static final int GRACE = 5;
    /**
     * How often a server is asked whether it runs. It may read the first question before a SHUTDOWN that was
     * sent a moment earlier on another connection.
     */
    private static final int QUESTIONS = 3;
    /** How many lines of its log describe an unexpected end. */
    private static final int SHOWN = 20;
    /** The exit code of a process that a SIGTERM has ended. */
    private static final int TERMINATED = 128 + 15;

    final Output output;
    final List<String> command;
    final long pid;
    /** Set once the server listens, the first one. Null for Sentinels. */
    volatile Endpoint endpoint;
    /** Set once the server listens: how this library controls the first one. Null for Sentinels. */
    volatile Endpoint door;
    /** The servers of the process, in order. Written before endpoint is. */
    final List<Endpoint> endpoints = new ArrayList<>();
    /** How this library controls each of the servers. Written before endpoint is. */
    final List<Endpoint> doors = new ArrayList<>();
    /** The indexes of the servers that have an outage, while the process runs. */
    final Set<Integer> stopped = ConcurrentHashMap.newKeySet();
    /** Set once the Sentinels listen. Empty for a server. */
    volatile List<Endpoint> sentinels = Collections.emptyList();
    /** Set once {@link #stop} found that the process had ended by itself; else null. */
    volatile Integer exitCode;
    private final Process process;
    private final Descendants below; // the server itself, if a script has started it
    private volatile Thread hook;
    private volatile boolean signalled; // stop had to send the signal: it did not take SHUTDOWN
    private volatile boolean forced; // stop had to kill it: it did not answer the signal
    private volatile List<Endpoint> missing = Collections.emptyList(); // Sentinels; at the stop
    private boolean reported; // guarded by this; unexpectedEnd has returned its text
    private final Set<Endpoint> reportedNodes = new HashSet<>(); // guarded by this; Sentinels

    ServerProcess(Process process, Output output, List<String> command) {
        this.process = process;
        this.below = new Descendants(process);
        this.output = output;
        this.command = command;
        this.pid = ProcessIds.of(process);
    }

    /** Reports whether the process runs, and all of its Sentinels do. */
    boolean isServing() {
        return process.isAlive() && missing(1).isEmpty();
    }

    /**
     * Returns the Sentinels that have ended. The process runs on until all have.
     *
     * @param times how often each is asked
     */
    private List<Endpoint> missing(int times) {
        List<Endpoint> missing = new ArrayList<>();
        for (Endpoint sentinel : sentinels) {
            if (refuses(sentinel, times)) {
                missing.add(sentinel);
            }
        }
        return missing;
    }

    /** Sends PING several times. Each has a connection of its own: behind SHUTDOWN nothing is accepted. */
    private static void ping(Endpoint to, int timeoutMillis, int times) throws IOException {
        for (int i = 0; i < times; i++) {
            try (Connection connection = new Connection(to, timeoutMillis)) {
                connection.call("PING");
            }
        }
    }

    /** Reports whether nothing listens at an address. Something that hangs does listen. */
    private static boolean refuses(Endpoint at, int times) {
        try {
            ping(at, PATIENCE, times);
            return false;
        } catch (Connection.ErrorReply | SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /** Reports whether the process runs, as far as is known, and was not asked to end. */
    boolean mustRun() {
        return process.isAlive() && !output.isStopping();
    }

    /**
     * Asks the server whether it runs, and waits for the end of a server that does not listen any more.
     *
     * @return why it does not answer. Null: it does, or it has ended
     */
    String ask(int timeoutMillis) {
        if (ends()) {
            return null;
        }
        for (int i = 0; i < doors.size(); i++) {
            String reason = ask(doors.get(i), timeoutMillis);
            if (reason != null) {
                return hasSeveral() ? "the server at " + endpoints.get(i).node() + ": " + reason : reason;
            }
        }
        return null;
    }

    private String ask(Endpoint door, int timeoutMillis) {
        try {
            ping(door, timeoutMillis, 1);
            return null;
        } catch (Connection.ErrorReply e) {
            return "PING: " + e.getMessage(); // BUSY, or one of several servers has ended
        } catch (SocketTimeoutException e) {
            return "PING: " + e;
        } catch (IOException e) {
            return awaitEnd() ? null : "PING: " + e;
        }
    }

    /** Reports whether the process has several servers. */
    boolean hasSeveral() {
        return doors.size() > 1;
    }

    /** Returns what listens as long as the process runs: one of several servers may stop. Null: Sentinels. */
    private Endpoint listening() {
        return hasSeveral() ? door : endpoint;
    }

    /**
     * Sends a command of the outage of one of several servers.
     *
     * @throws IOException if the server has ended for good
     */
    void control(int server, String word) throws IOException {
        try (Connection connection = new Connection(doors.get(server), LockredisServer.COMMAND_TIMEOUT)) {
            connection.call("CONTROL", word);
        }
    }

    /** Reports whether the server accepts no clients any more. Then it waits for the end of the process. */
    boolean ends() {
        return refusesClients() && awaitEnd();
    }

    /** Reports whether the server accepts no clients any more, and it is no fault that breaks their connections. */
    private boolean refusesClients() {
        return refuses(listening(), QUESTIONS) && (hasSeveral() || !hasFaults());
    }

    /** Reports whether faults are in effect: they may have broken a connection. */
    boolean hasFaults() {
        try (Connection connection = new Connection(door, PATIENCE)) {
            return !((List<?>) connection.call("FAULT.LIST")).isEmpty();
        } catch (IOException e) {
            return false;
        }
    }

    /** Says that the process has ended, and why if it was not asked to end. */
    String describeEnd() {
        if (output.isStopping()) {
            return "is stopped";
        }
        List<String> lines = output.lines();
        return "has ended by itself with " + code(process.exitValue())
                + (lines.isEmpty() ? "" : ": " + lines.get(lines.size() - 1));
    }

    /**
     * Returns the text for a process that has ended by itself: the exit code and the end of its log.
     * Null if the process runs, if it was asked to end, and if the text was returned before.
     *
     * @param name the subject of the text: "lockredis at redis://127.0.0.1:40123"
     */
    synchronized String unexpectedEnd(String name) {
        List<Endpoint> gone = output.isStopping() ? missing : missing(QUESTIONS);
        if (!gone.isEmpty() && gone.size() == sentinels.size()) {
            awaitEnd(); // the last of them has ended just now
        }
        Integer code = exitCode;
        if (code == null && !process.isAlive() && !output.isStopping()) {
            code = process.exitValue();
        }
        gone.removeAll(reportedNodes);
        if (reported || code == null && gone.isEmpty()) {
            return null;
        }
        StringBuilder text = new StringBuilder(name);
        if (code == null) {
            reportedNodes.addAll(gone);
            for (Endpoint sentinel : gone) {
                text.append(gone.get(0) == sentinel ? ": the one at " : ", the one at ")
                        .append(sentinel.node());
            }
            text.append(" ended by itself. ");
        } else {
            reported = true;
            awaitOutput();
            text.append(" ended by itself with ").append(code(code))
                    .append(". A test calls stop() for an outage. ");
        }
        List<String> lines = output.lines();
        text.append(lines.isEmpty() ? "Its log is empty" : "Its log ends with:");
        for (String line : lines.subList(Math.max(0, lines.size() - SHOWN), lines.size())) {
            text.append("\n  | ").append(line);
        }
        return text.toString();
    }

    private void awaitOutput() {
        try {
            output.awaitEnd(1000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the lines so far must do
        }
    }

    /** Names an exit code. Above 128 it is a signal's on all systems but Windows. */
    private static String code(int code) {
        boolean signal = code > 128 && code <= 160 && !Platform.current().isWindows();
        return "exit code " + code + (signal ? " (signal " + (code - 128) + ")" : "");
    }

    /** Waits a moment for the end of a process that no longer answers. Reports whether it ended. */
    boolean awaitEnd() {
        try {
            return process.waitFor(GRACE, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return !process.isAlive();
        }
    }

    /** Ends the process and waits for its end. The output is complete afterwards. */
    void stop() {
        stop(true);
    }

    /**
     * Ends the process and waits for its end.
     *
     * @param ask whether it may take commands. If it hangs, a signal is sent at once
     */
    void stop(boolean ask) {
        boolean interrupted = Thread.interrupted();
        try {
            end(ask);
        } catch (InterruptedException e) {
            destroy();
            interrupted = true;
        } finally {
            removeHook();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Kills the process, which may have ended by itself, and waits for its end. */
    void kill() {
        synchronized (this) { // an end by itself is noted before
            if (!output.isStopping() && !process.isAlive()) {
                exitCode = process.exitValue();
            }
            output.setStopping();
        }
        destroy();
        stop(false);
    }

    /** Kills the process, and those below it. */
    private void destroy() {
        forced = true;
        below.find();
        process.destroyForcibly();
        below.kill();
    }

    private void removeHook() {
        Thread watched = hook;
        if (watched != null && Thread.currentThread() != watched) {
            try {
                Runtime.getRuntime().removeShutdownHook(watched);
            } catch (IllegalStateException e) {
                // the JVM is ending
            }
        }
    }

    private void end(boolean ask) throws InterruptedException {
        if (!output.isStopping() && (hasEnded() || ask && endsItself())) {
            exitCode = process.exitValue();
        }
        if (!ask || !shutDown() || !process.waitFor(GRACE, TimeUnit.SECONDS)) {
            output.setStopping();
            signalled = true;
            below.find();
            terminate(); // the script first: it would go on behind a command that ends
            below.terminate();
        }
        if (process.waitFor(GRACE, TimeUnit.SECONDS)) {
            noteCrash();
        } else {
            destroy();
            process.waitFor(GRACE, TimeUnit.SECONDS);
        }
        output.awaitEnd(1000);
        if (signalled || forced) {
            below.kill();
            killOrphans();
        }
    }

    private void killOrphans() {
        int watch = command.indexOf("--exit-with-parent");
        if (watch > 0 && command.get(watch + 1).equals(Launch.SELF)) {
            Descendants.killOrphans(command.subList(watch, watch + 2));
        }
    }

    private boolean hasEnded() throws InterruptedException {
        // A server that refused to start closes its output shortly before it ends.
        return output.ended() && process.waitFor(GRACE, TimeUnit.SECONDS) || !process.isAlive();
    }

    /**
     * Reports whether the process ends just now, because another process told it to. It does not
     * listen any more then. Notes the Sentinels that have ended.
     */
    private boolean endsItself() throws InterruptedException {
        missing = missing(QUESTIONS);
        boolean ends = listening() != null ? refusesClients()
                : !missing.isEmpty() && missing.size() == sentinels.size();
        return ends && process.waitFor(GRACE, TimeUnit.SECONDS);
    }

    /**
     * Stops the process by commands. The exit code then tells of a signal that another process sent
     * before: two equal signals are one for the process. Returns false if a node takes no command:
     * it hangs, or a script runs. A signal stops several servers.
     */
    private boolean shutDown() {
        if (hasSeveral()) {
            return false;
        }
        Endpoint server = door; // no fault hits it
        List<Endpoint> nodes = server == null ? sentinels : Collections.singletonList(server);
        boolean done = !nodes.isEmpty();
        for (Endpoint node : nodes) {
            try (Connection connection = new Connection(node, PATIENCE)) {
                output.setStopping();
                connection.call("SHUTDOWN");
            } catch (Connection.ErrorReply | SocketTimeoutException e) {
                done = false;
            } catch (IOException e) {
                // the connection ends without a reply
            }
        }
        return done;
    }

    /**
     * Notes an end that the stop did not cause: something killed the process or sent it a signal a
     * moment before, or it failed while it stopped. On Windows the signal itself sets the exit code.
     */
    private void noteCrash() {
        int code = process.exitValue();
        boolean asked = code == 0 || signalled && code == TERMINATED;
        if (!forced && !asked && !Platform.current().isWindows()) {
            exitCode = code;
        }
    }

    /** Asks the process to end. Process.destroy closes its output too: the last lines would be lost. */
    private void terminate() {
        try {
            Object handle = Process.class.getMethod("toHandle").invoke(process);
            Class.forName("java.lang.ProcessHandle").getMethod("destroy").invoke(handle);
        } catch (ReflectiveOperationException e) {
            process.destroy(); // Java 8
        }
    }

    /** Ends the process in a shutdown hook, where it cannot watch this JVM. */
    void stopAtExit() {
        Thread thread = new Thread(this::stop, "lockredis-stop-" + pid);
        hook = thread;
        Runtime.getRuntime().addShutdownHook(thread);
    }
}
