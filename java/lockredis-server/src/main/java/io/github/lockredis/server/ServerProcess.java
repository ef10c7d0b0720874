package io.github.lockredis.server;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One process of a server or of its Sentinels, from its start to its end. */
final class ServerProcess {
    /** How long the server has to end after a signal, in seconds. */
    private static final int GRACE = 5;

    final Output output;
    final List<String> command;
    final long pid;
    /** Set once the server listens. Null for Sentinels. */
    volatile Endpoint endpoint;
    /** Set once {@link #destroy} found that the process had ended by itself; else null. */
    volatile Integer exitCode;
    private final Process process;
    private volatile Thread hook;

    ServerProcess(Process process, Output output, List<String> command) {
        this.process = process;
        this.output = output;
        this.command = command;
        this.pid = pid(process);
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
        return "has ended by itself with exit code " + process.exitValue()
                + (lines.isEmpty() ? "" : ": " + lines.get(lines.size() - 1));
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
            if (output.ended() && process.waitFor(GRACE, TimeUnit.SECONDS)) {
                exitCode = process.exitValue();
            }
            output.setStopping();
            terminate();
            if (!process.waitFor(GRACE, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                process.waitFor(GRACE, TimeUnit.SECONDS);
            }
            output.awaitEnd(1000);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            interrupted = true;
        }
        return interrupted;
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

    /** Returns the process id. -1 on Java 8 for Windows. */
    private static long pid(Process process) {
        try {
            return (Long) Process.class.getMethod("pid").invoke(process);
        } catch (ReflectiveOperationException e) {
            // Java 8
        }
        try {
            Field pid = process.getClass().getDeclaredField("pid");
            pid.setAccessible(true);
            return ((Number) pid.get(process)).longValue();
        } catch (ReflectiveOperationException | RuntimeException e) {
            return -1;
        }
    }
}
