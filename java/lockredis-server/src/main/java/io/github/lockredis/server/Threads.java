package io.github.lockredis.server;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The threads of this JVM at one moment, without the thread that asks and the threads that run other tests. */
final class Threads {
    private final Map<Long, ThreadInfo> all = new HashMap<>(); // by id

    private Threads() {
    }

    /** Returns the threads that there are now. */
    static Threads now() {
        Threads threads = new Threads();
        for (ThreadInfo info : ManagementFactory.getThreadMXBean().dumpAllThreads(false, false)) {
            if (info.getThreadId() != Thread.currentThread().getId() && !Owners.isOfTests(info)) {
                threads.all.put(info.getThreadId(), info);
            }
        }
        return threads;
    }

    /** Returns no threads: each one counts as new. */
    static Threads none() {
        return new Threads();
    }

    /**
     * Returns the ids of the threads that are inside a method of one of the LOCK classes: they wait for a lock, or for
     * a reply.
     */
    Set<Long> locking() {
        return lockingSince(none());
    }

    /** Returns those of {@link #locking} that were not at work at an earlier moment. */
    Set<Long> lockingSince(Threads earlier) {
        return all.values().stream().filter(info -> Owners.isLocking(info) && !earlier.hadAtWork(info.getThreadId()))
                .map(ThreadInfo::getThreadId).collect(Collectors.toSet());
    }

    /** Reports whether a thread with an id was there. */
    boolean contains(long id) {
        return all.containsKey(id);
    }

    private boolean had(long id, Predicate<ThreadInfo> state) {
        ThreadInfo info = all.get(id);
        return info != null && state.test(info);
    }

    /** Reports whether a thread was at work, or is one of a scheduler. */
    private boolean hadAtWork(long id) {
        return had(id, info -> Owners.isBusy(info) || Owners.isOfScheduler(info));
    }

    /**
     * Reports whether an owner is a thread that was at work, or a thread of a scheduler that had a thread. A scheduler
     * starts its second thread when its first task repeats.
     */
    boolean haveAtWork(String owner) {
        long id = Owners.threadOf(owner);
        if (hadAtWork(id)) {
            return true;
        }
        ThreadInfo info = Owners.thread(id);
        return info != null && Owners.isOfScheduler(info) && (contains(id) || isOfPool(pool(info)));
    }

    private boolean isOfPool(String pool) {
        return !pool.equals("Thread-") && all.values().stream().anyMatch(info -> pool(info).equals(pool));
    }

    /** Returns a thread's name without its number, which the threads of a pool have in common. */
    private static String pool(ThreadInfo info) {
        return info.getThreadName().replaceAll("\\d+$", "");
    }

    /**
     * Reports whether a thread runs, or sleeps in its task, that did nothing at an earlier moment, or was not there. A
     * pool's thread that ran then, but no task, was about to wait for one.
     */
    boolean haveStarted(Threads earlier) {
        return all.values().stream().anyMatch(info -> !earlier.hadAtWork(info.getThreadId())
                && (Owners.isActive(info) || Owners.isRunning(info) && !earlier.ranSteadily(info.getThreadId())));
    }

    private boolean ranSteadily(long id) {
        return had(id, info -> Owners.isRunning(info) && !Owners.isWorker(info));
    }
}
