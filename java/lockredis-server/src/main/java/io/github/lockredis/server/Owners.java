package io.github.lockredis.server;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Owners of locks that are threads of this JVM. Redisson's owner is the client's id, a colon and the thread's id.
 * In a transaction, a colon and the transaction's id follow: 32 hexadecimal digits, in early versions with dashes.
 */
final class Owners {
    private static final Pattern THREAD = Pattern.compile("(.+?):([1-9]\\d{0,17})"
            + "(:[\\da-f]{8}(-?)[\\da-f]{4}\\4[\\da-f]{4}\\4[\\da-f]{4}\\4[\\da-f]{12})?");
    private static final Pattern OF_POOL = Pattern.compile("(java|javax|jdk|sun|com\\.sun|io\\.netty)\\..*");

    /** The classes of the JDK's blocking queues. */
    private static final Pattern QUEUE = Pattern.compile("java\\.util\\.concurrent\\.\\w+(Queue|Deque)");

    private Owners() {
    }

    /**
     * Reports whether an owner is another thread of this JVM, and is at work. A thread that waits for its next
     * task is not. Of a pool's thread only classes of the JDK and of Netty are on the stack. A thread with a loop
     * of the application waits in a blocking queue of the JDK.
     */
    static boolean isBusyElsewhere(String owner) {
        ThreadInfo info = thread(owner);
        return info != null && info.getThreadId() != Thread.currentThread().getId() && isBusy(info);
    }

    /** Reports whether an owner is a thread of this JVM that waits for its next task. */
    static boolean isIdle(String owner) {
        ThreadInfo info = thread(owner);
        return info != null && !isBusy(info);
    }

    /**
     * Returns the owners that are threads of this JVM at work, with the client of an owner. The thread that asks is
     * none of them. It is empty if the owner itself is no such thread.
     */
    static List<String> busyElsewhere(String owner) {
        Matcher thread = THREAD.matcher(owner);
        List<String> owners = new ArrayList<>();
        if (!thread.matches() || !isBusyElsewhere(owner)) {
            return owners;
        }
        for (ThreadInfo info : ManagementFactory.getThreadMXBean().dumpAllThreads(false, false)) {
            if (info.getThreadId() != Thread.currentThread().getId() && isBusy(info)) {
                owners.add(thread.group(1) + ":" + info.getThreadId());
            }
        }
        return owners;
    }

    /** Reports whether an owner has the form of Redisson's. */
    static boolean isThread(String owner) {
        return THREAD.matcher(owner).matches();
    }

    /** Reports whether an owner is the thread that asks. */
    static boolean isCurrent(String owner) {
        Matcher thread = THREAD.matcher(owner);
        return thread.matches() && Long.parseLong(thread.group(2)) == Thread.currentThread().getId();
    }

    /** Returns the thread of an owner. Null: it is of another JVM, has ended, or is a virtual thread. */
    private static ThreadInfo thread(String owner) {
        Matcher thread = THREAD.matcher(owner);
        return !thread.matches() ? null : ManagementFactory.getThreadMXBean()
                .getThreadInfo(Long.parseLong(thread.group(2)), Integer.MAX_VALUE);
    }

    private static boolean isBusy(ThreadInfo thread) {
        boolean inPool = true; // the frames so far
        boolean inQueue = false;
        for (StackTraceElement frame : thread.getStackTrace()) {
            if (!OF_POOL.matcher(frame.getClassName()).matches()) {
                inPool = false;
                if (!inQueue || frame.getClassName().startsWith("org.redisson.")) { // its task has not ended
                    return true;
                }
            } else if (inPool) {
                inQueue |= takes(frame, thread.getThreadState());
            }
        }
        return false;
    }

    /** Reports whether a frame is a wait for an element of a queue. */
    private static boolean takes(StackTraceElement frame, Thread.State state) {
        return (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING)
                && (frame.getMethodName().startsWith("take") || frame.getMethodName().startsWith("poll"))
                && QUEUE.matcher(frame.getClassName()).matches();
    }
}
