package io.github.lockredis.server;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Owners of locks that are threads of this JVM. Redisson's owner ends with a colon and a thread's id. */
final class Owners {
    private static final Pattern THREAD = Pattern.compile(".+:([1-9]\\d{0,17})");
    private static final Pattern OF_JDK = Pattern.compile("(java|javax|jdk|sun|com\\.sun)\\..*");

    private Owners() {
    }

    /**
     * Reports whether an owner is another thread of this JVM, and is at work. A thread that a pool keeps for
     * its next task is not: only classes of the JDK are on its stack.
     */
    static boolean isBusyElsewhere(String owner) {
        Matcher thread = THREAD.matcher(owner);
        if (!thread.matches()) {
            return false;
        }
        long id = Long.parseLong(thread.group(1));
        if (id == Thread.currentThread().getId()) {
            return false;
        }
        ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(id, Integer.MAX_VALUE);
        if (info == null) { // it has ended, or is a virtual thread
            return false;
        }
        for (StackTraceElement frame : info.getStackTrace()) {
            if (!OF_JDK.matcher(frame.getClassName()).matches()) {
                return true;
            }
        }
        return false;
    }
}
