package io.github.lockredis.server;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One process of a server or of its Sentinels, from its start to its end. */
final class ServerProcess {
    /** How long the server has to end after a signal, in seconds. */
    private static final int GRACE = 5;
    /** How many lines of its log describe an unexpected end. */
    private static final int SHOWN = 20;
    /** The exit code of a process that a SIGTERM has ended. */
    private static final int TERMINATED = 128 + 15;

    final Output output;
    final List<String> command;
    final long pid;
    /** Set once the server listens. Null for Sentinels. */
    volatile Endpoint endpoint;
    /** Set once {@link #destroy} found that the process had ended by itself; else null. */
    volatile Integer exitCode;
    private final Process process;
    private volatile Thread hook;
    private volatile boolean forced; // destroy had to kill it: it did not answer the signal
    private boolean reported; // guarded by this; unexpectedEnd has returned its text

    ServerProcess(Process process, Output output, List<String> command) {
        this.process = process;
        this.output = output;
        this.command = command;
        this.pid = ProcessIds.of(process);
    }

    /** Reports whether the process runs. */
    boolean isServing() {
        return process.isAlive();
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
        Integer code = exitCode;
        if (code == null && !process.isAlive() && !output.isStopping()) {
            code = process.exitValue();
        }
        if (code == null || reported) {
            return null;
        }
        reported = true;
        awaitOutput();
        List<String> lines = output.lines();
        StringBuilder text = new StringBuilder(name).append(" ended by itself with ")
                .append(code(code)).append(". A test calls stop() for an outage. ")
                .append(lines.isEmpty() ? "Its log is empty" : "Its log ends with:");
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

    /** Reports whether the server at an address answers and is this process. */
    boolean answers(Endpoint at) {
        try (Connection connection = new Connection(at, 1000)) {
            String info = String.valueOf(connection.call("INFO", "server"));
            return pid < 0 || info.contains("\nprocess_id:" + pid + "\r");
        } catch (IOException e) {
            return false;
        }
    }

    /** Ends the process and waits for its end. The output is complete afterwards. */
    void destroy() {
        boolean interrupted = false;
        try {
            interrupted = end();
        } finally {
            Thread watched = hook;
            if (watched != null && Thread.currentThread() != watched) {
                try {
                    Runtime.getRuntime().removeShutdownHook(watched);
                } catch (IllegalStateException e) {
                    // the JVM is ending
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends the process even if this thread is interrupted. Reports whether it was. */
    private boolean end() {
        boolean interrupted = Thread.interrupted();
        try {
            // A server that refused to start closes its output shortly before it ends.
            boolean ended = output.ended() && process.waitFor(GRACE, TimeUnit.SECONDS)
                    || !process.isAlive();
            if (ended && !output.isStopping()) {
                exitCode = process.exitValue();
            }
            output.setStopping();
            terminate();
            if (process.waitFor(GRACE, TimeUnit.SECONDS)) {
                noteCrash();
            } else {
                forced = true;
                process.destroyForcibly();
                process.waitFor(GRACE, TimeUnit.SECONDS);
            }
            output.awaitEnd(1000);
        } catch (InterruptedException e) {
            forced = true;
            process.destroyForcibly();
            interrupted = true;
        }
        return interrupted;
    }

    /**
     * Notes an end that the signal to stop did not cause: something killed the process a moment
     * before, or it failed while it stopped. On Windows the signal itself sets the exit code.
     */
    private void noteCrash() {
        int code = process.exitValue();
        if (!forced && code != 0 && code != TERMINATED && !Platform.current().isWindows()) {
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
        Thread thread = new Thread(this::destroy, "lockredis-stop-" + pid);
        hook = thread;
        Runtime.getRuntime().addShutdownHook(thread);
    }
}
