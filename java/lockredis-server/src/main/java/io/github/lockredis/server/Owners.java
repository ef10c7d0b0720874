package io.github.lockredis.server;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.Arrays;
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

    /** The classes of the locks of Redisson and Spring Integration. The check counts what their methods acquire. */
    static final Pattern LOCK = Pattern.compile("org\\.redisson\\.Redisson(\\w*Lock|PermitExpirableSemaphore)"
            + "|org\\.springframework\\.integration\\.redis\\.util\\.RedisLockRegistry\\$\\w*Lock");

    private static final Pattern SCHEDULER =
            Pattern.compile("java\\.util\\.(concurrent\\.ScheduledThreadPoolExecutor\\b.*|TimerThread)");

    /** The methods at the top of a thread that is parked, or waits for a notify. */
    private static final Pattern PARKED = Pattern.compile("park|wait0?");

    private static final Pattern REDISSON = Pattern.compile("org\\.redisson\\..*");

    /** The classes that run tests. Their threads run other tests, on other servers. */
    private static final Pattern TESTS = Pattern.compile("org\\.(junit\\.(platform|runners)|testng)\\..*");

    private Owners() {
    }

    /** Reports whether a thread runs tests: those of another server, if it is not the thread that asks. */
    static boolean isOfTests(ThreadInfo thread) {
        return hasFrame(thread, TESTS);
    }

    /** Reports whether a thread is inside a method of one of the LOCK classes. */
    static boolean isLocking(ThreadInfo thread) {
        return hasFrame(thread, LOCK);
    }

    /** Reports whether a thread is inside a method of a class whose name matches. */
    static boolean hasFrame(ThreadInfo thread, Pattern type) {
        return Arrays.stream(thread.getStackTrace()).anyMatch(frame -> type.matcher(frame.getClassName()).matches());
    }

    /**
     * Reports whether an owner is another thread of this JVM, is at work, and may acquire a lock by itself soon. A
     * thread that is parked outside of Redisson, and for no time, waits for another thread, such as a worker of a pool
     * that is not the JDK's.
     */
    static boolean isActiveElsewhere(String owner) {
        ThreadInfo info = thread(threadOf(owner));
        return info != null && info.getThreadId() != Thread.currentThread().getId() && isActive(info);
    }

    /** Reports whether a thread is at work, and not parked outside of Redisson. It may sleep, or wait for a time. */
    static boolean isActive(ThreadInfo thread) {
        return isBusy(thread) && (thread.getThreadState() != Thread.State.WAITING
                || !PARKED.matcher(thread.getStackTrace()[0].getMethodName()).matches() || hasFrame(thread, REDISSON));
    }

    /** Reports whether it is a thread of a scheduler, which runs a task or waits for the next run. */
    static boolean isOfScheduler(ThreadInfo thread) {
        return hasFrame(thread, SCHEDULER);
    }

    /** Reports whether a thread with an id is one of a scheduler. */
    static boolean isOfScheduler(long id) {
        ThreadInfo info = thread(id);
        return info != null && isOfScheduler(info);
    }

    /** Reports whether a thread with an id is one of this JVM, and no virtual one. */
    static boolean isAlive(long id) {
        return thread(id) != null;
    }

    /** Returns the id of an owner's thread. -1: the owner has none. */
    static long threadOf(String owner) {
        Matcher thread = THREAD.matcher(owner);
        return thread.matches() ? Long.parseLong(thread.group(2)) : -1;
    }

    /** Reports whether an owner has the form of Redisson's. */
    static boolean isThread(String owner) {
        return THREAD.matcher(owner).matches();
    }

    /** Reports whether an owner is the thread that asks. */
    static boolean isCurrent(String owner) {
        return threadOf(owner) == Thread.currentThread().getId();
    }

    /** Returns a thread. Null: it is of another JVM, has ended, or is a virtual thread. */
    static ThreadInfo thread(long id) {
        return id <= 0 ? null : ManagementFactory.getThreadMXBean().getThreadInfo(id, Integer.MAX_VALUE);
    }

    /**
     * Reports whether a thread is at work. A thread that waits for its next task is not. Of a pool's thread only
     * classes of the JDK and of Netty are on the stack. A thread with a loop of the application waits in a
     * blocking queue of the JDK.
     */
    static boolean isBusy(ThreadInfo thread) {
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
