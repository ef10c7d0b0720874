package io.github.lockredis.server;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The processes below a server's process. Its executable may be a script, which starts the server. Java 8
 * cannot find them, so nothing happens there.
 */
final class Descendants {
    private final Process process;
    private final Set<Object> found = new LinkedHashSet<>(); // of ProcessHandle; guarded by this

    Descendants(Process process) {
        this.process = process;
    }

    /** Finds the processes below it. They cannot be found any more when the process has ended. */
    synchronized void find() {
        try {
            Object handle = Process.class.getMethod("toHandle").invoke(process);
            ((Stream<?>) call(handle, "descendants")).forEach(found::add);
        } catch (ReflectiveOperationException e) {
            // Java 8
        }
    }

    /** Asks the processes that were found to end. */
    void terminate() {
        callAll("destroy");
    }

    /** Kills the processes that were found. */
    void kill() {
        callAll("destroyForcibly");
    }

    private synchronized void callAll(String method) {
        try {
            for (Object handle : found) {
                call(handle, method);
            }
        } catch (ReflectiveOperationException e) {
            // Java 8
        }
    }

    /**
     * Kills the servers that watch this JVM and are no longer below it. A script may start a server between
     * {@link #find} and its own end.
     *
     * @param arguments the arguments that let a server watch this JVM
     */
    static void killOrphans(List<String> arguments) {
        try {
            Object self = type("").getMethod("current").invoke(null);
            Stream<?> all = (Stream<?>) type("").getMethod("allProcesses").invoke(null);
            for (Object handle : all.toArray()) {
                if (Collections.indexOfSubList(arguments(handle), arguments) >= 0 && !isBelow(self, handle)) {
                    call(handle, "destroyForcibly");
                }
            }
        } catch (ReflectiveOperationException e) {
            // Java 8
        }
    }

    private static boolean isBelow(Object top, Object handle) throws ReflectiveOperationException {
        Optional<?> at = Optional.of(handle);
        while (at.isPresent() && !at.get().equals(top)) {
            at = (Optional<?>) call(at.get(), "parent");
        }
        return at.isPresent();
    }

    /** Returns the arguments of a process. Empty: unknown. */
    private static List<String> arguments(Object handle) throws ReflectiveOperationException {
        Method arguments = type("$Info").getMethod("arguments");
        Optional<?> known = (Optional<?>) arguments.invoke(call(handle, "info"));
        return known.isPresent() ? Arrays.asList((String[]) known.get()) : Collections.emptyList();
    }

    private static Object call(Object handle, String method) throws ReflectiveOperationException {
        return type("").getMethod(method).invoke(handle);
    }

    private static Class<?> type(String suffix) throws ClassNotFoundException {
        return Class.forName("java.lang.ProcessHandle" + suffix);
    }
}
