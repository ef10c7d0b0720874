package io.github.lockredis.server;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;

/** The numbers of processes. Java 8 has no method for them. */
final class ProcessIds {
    private ProcessIds() {
    }

    /** Returns the id of this JVM's process, "" if it is unknown. */
    static String self() {
        try {
            Class<?> handle = Class.forName("java.lang.ProcessHandle");
            return handle.getMethod("pid").invoke(handle.getMethod("current").invoke(null)).toString();
        } catch (ReflectiveOperationException e) {
            // Java 8
        }
        String name = ManagementFactory.getRuntimeMXBean().getName(); // 4711@host
        return name.matches("\\d+@.*") ? name.substring(0, name.indexOf('@')) : "";
    }

    /** Returns the id of a process. -1 on Java 8 for Windows. */
    static long of(Process process) {
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
