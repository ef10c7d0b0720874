package io.github.lockredis.server;

import java.lang.reflect.Method;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Passes the server's lines to the log of this JVM: SLF4J if it is on the class path with a provider
 * that logs, else System.Logger, else java.util.logging. The logger's name is io.github.lockredis.server. Warnings of
 * the server are warnings. Its other lines, and all lines of Sentinels, are for debugging: a test's
 * output stays short. A thread of its own writes, so a slow log does not hold up a server.
 */
final class ServerLog {
    private static final String NAME = "io.github.lockredis.server";
    /** How long the first line waits, in milliseconds. Finding the logger would slow down a start. */
    private static final long FIRST = 150;

    /** Runs one task after the other. Its thread ends when there is nothing to log. */
    private static final ThreadPoolExecutor QUEUE = new ThreadPoolExecutor(1, 1, 2, TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(), new ThreadFactory() {
                @Override
                public Thread newThread(Runnable task) {
                    Thread thread = new Thread(task, "lockredis-log");
                    thread.setDaemon(true);
                    return thread;
                }
            });

    static {
        QUEUE.allowCoreThreadTimeOut(true);
    }

    private ServerLog() {
    }

    /** Holds the logger. The first line finds it. */
    private static final class Holder {
        static final BiConsumer<Boolean, String> LOG = find();
    }

    /** Logs a line of a server, soon. calm makes a line for debugging of every line. */
    static void write(String line, boolean calm) {
        log(!calm && isWarning(line), line);
    }

    /** Reports whether a line has the form "123:M 23 Nov 2026 03:44:42.876 # text". */
    static boolean isWarning(String line) {
        int role = line.indexOf(":M ");
        int sign = line.indexOf(" # ");
        return role > 0 && Text.isPlain(line.substring(0, role), "")
                && sign >= role + 26 && sign <= role + 30;
    }

    /** Logs a warning of the library itself, soon. */
    static void warn(String text) {
        log(true, text);
    }

    private static void log(boolean warning, String text) {
        boolean first = QUEUE.getTaskCount() == 0;
        QUEUE.execute(new Runnable() {
            @Override
            public void run() {
                if (first) {
                    pause();
                }
                Holder.LOG.accept(warning, text);
            }
        });
    }

    private static void pause() {
        try {
            Thread.sleep(FIRST);
        } catch (InterruptedException e) {
            // nothing interrupts this thread but a caller that wants its end
        }
    }

    private static BiConsumer<Boolean, String> find() {
        try {
            return slf4j();
        } catch (ReflectiveOperationException | LinkageError e) {
            // SLF4J is not there
        }
        try {
            return systemLogger();
        } catch (ReflectiveOperationException | LinkageError e) {
            // Java 8
        }
        Logger log = Logger.getLogger(NAME);
        return (warning, line) -> log.log(warning ? Level.WARNING : Level.FINE, line);
    }

    /** @throws ClassNotFoundException if SLF4J is not there, or its only provider logs nothing */
    private static BiConsumer<Boolean, String> slf4j() throws ReflectiveOperationException {
        Class<?> factory = Class.forName("org.slf4j.LoggerFactory");
        Class<?> type = Class.forName("org.slf4j.Logger");
        Object found = factory.getMethod("getILoggerFactory").invoke(null);
        if (found.getClass().getName().equals("org.slf4j.helpers.NOPLoggerFactory")) {
            throw new ClassNotFoundException("a provider of SLF4J that logs");
        }
        Object log = factory.getMethod("getLogger", String.class).invoke(null, NAME);
        Method warn = type.getMethod("warn", String.class);
        Method debug = type.getMethod("debug", String.class);
        return (warning, line) -> call(warning ? warn : debug, log, line);
    }

    private static BiConsumer<Boolean, String> systemLogger() throws ReflectiveOperationException {
        Class<?> type = Class.forName("java.lang.System$Logger");
        Class<?> level = Class.forName("java.lang.System$Logger$Level");
        Object log = System.class.getMethod("getLogger", String.class).invoke(null, NAME);
        Method method = type.getMethod("log", level, String.class);
        Object warn = level.getField("WARNING").get(null);
        Object debug = level.getField("DEBUG").get(null);
        return (warning, line) -> call(method, log, warning ? warn : debug, line);
    }

    private static void call(Method method, Object log, Object... arguments) {
        try {
            method.invoke(log, arguments);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
