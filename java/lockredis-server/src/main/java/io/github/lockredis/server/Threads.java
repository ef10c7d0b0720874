package io.github.lockredis.server;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
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
        return all.values().stream().filter(Owners::isLocking).map(ThreadInfo::getThreadId)
                .collect(Collectors.toSet());
    }

    /** Reports whether a thread was active then, or one of a scheduler. */
    boolean hadAtWork(long id) {
        ThreadInfo info = all.get(id);
        return info != null && (Owners.isActive(info) || Owners.isOfScheduler(info));
    }
}
