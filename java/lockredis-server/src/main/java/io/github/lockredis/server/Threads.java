package io.github.lockredis.server;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.HashSet;
import java.util.Set;

/** The threads of this JVM at one moment, without the thread that asks and the threads that run other tests. */
final class Threads {
    private final Set<Long> all = new HashSet<>();
    private final Set<Long> atWork = new HashSet<>(); // or of a scheduler
    private final Set<Long> active = new HashSet<>();
    private final Set<Long> running = new HashSet<>();
    private final Set<Long> workers = new HashSet<>(); // of the JDK's pools
    private final Set<Long> locking = new HashSet<>();
    private final Set<String> pools = new HashSet<>();

    private Threads() {
    }

    /** Returns the threads that there are now. */
    static Threads now() {
        Threads threads = new Threads();
        for (ThreadInfo info : ManagementFactory.getThreadMXBean().dumpAllThreads(false, false)) {
            if (info.getThreadId() != Thread.currentThread().getId() && !Owners.isOfTests(info)) {
                threads.add(info);
            }
        }
        return threads;
    }

    /** Returns no threads: each one counts as new. */
    static Threads none() {
        return new Threads();
    }

    private void add(ThreadInfo info) {
        long id = info.getThreadId();
        all.add(id);
        pools.add(pool(info));
        if (Owners.isBusy(info) || Owners.isOfScheduler(info)) {
            atWork.add(id);
        }
        if (Owners.isActive(info)) {
            active.add(id);
        }
        if (Owners.isRunning(info)) {
            running.add(id);
        }
        if (Owners.isWorker(info)) {
            workers.add(id);
        }
        if (Owners.isLocking(info)) {
            locking.add(id);
        }
    }

    /** Returns a thread's name without its number, which the threads of a pool have in common. */
    private static String pool(ThreadInfo info) {
        return info.getThreadName().replaceAll("\\d+$", "");
    }

    /**
     * Returns the ids of the threads that are inside a method of one of the LOCK classes: they wait for a lock, or for
     * a reply.
     */
    Set<Long> locking() {
        return locking;
    }

    /** Reports whether a thread with an id was there. */
    boolean contains(long id) {
        return all.contains(id);
    }

    /**
     * Reports whether an owner is a thread that was at work, or a thread of a scheduler that had a thread. A scheduler
     * starts its second thread when its first task repeats.
     */
    boolean haveAtWork(String owner) {
        long id = Owners.threadOf(owner);
        if (atWork.contains(id)) {
            return true;
        }
        ThreadInfo info = Owners.thread(id);
        return info != null && Owners.isOfScheduler(info)
                && (all.contains(id) || pools.contains(pool(info)) && !pool(info).equals("Thread-"));
    }

    /** Returns those of {@link #locking} that were not at work at an earlier moment. */
    Set<Long> lockingSince(Threads earlier) {
        Set<Long> since = new HashSet<>(locking);
        since.removeAll(earlier.atWork);
        return since;
    }

    /**
     * Reports whether a thread runs, or sleeps in its task, that did nothing at an earlier moment, or was not there. A
     * pool's thread that ran then, but no task, was about to wait for one.
     */
    boolean haveStarted(Threads earlier) {
        return active.stream().anyMatch(id -> !earlier.atWork.contains(id))
                || running.stream().anyMatch(id -> !earlier.atWork.contains(id)
                        && (earlier.workers.contains(id) || !earlier.running.contains(id)));
    }
}
