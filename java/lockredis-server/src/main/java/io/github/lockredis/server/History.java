package io.github.lockredis.server;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * How often owners have acquired locks, as the server counts it. So a thread that locks in a loop is found also if
 * every look falls between two holds.
 */
final class History {
    /**
     * A thread that acquires a lock when its test has ended for so long locks in a loop, in nanoseconds. An executor's
     * tasks may still be waiting for their turns before.
     */
    private static final long TASKS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Map<Object, Long> before; // times by owner and lock, when the test began
    private final Set<String> others = new HashSet<>(); // owners that had acquired a lock before
    private final Threads threads; // when the test began
    private final Set<Long> lockingBefore; // those inside a lock's method
    private long ended; // the time of the first look after the test, as System.nanoTime gives it. 0: there was none
    private Map<Object, Long> later; // times at the first look that came TASKS later. Null: there was none
    private List<Leak> rows; // of the last reply

    /** Makes the history of a test that begins now. Takes its rows out of a reply. */
    History(Collection<Leak> reply, Threads threads) {
        this.threads = threads;
        lockingBefore = threads.locking();
        rows = take(reply);
        before = times(rows);
        rows.forEach(row -> others.add(row.owner()));
    }

    /** Takes the rows of the history out of a reply after the test, to a question that was sent at a time. */
    void look(Collection<Leak> reply, long lookedAt) {
        rows = take(reply);
        if (ended == 0) {
            ended = lookedAt;
        } else if (later == null && lookedAt - ended >= TASKS) {
            later = times(rows);
        }
    }

    private static List<Leak> take(Collection<Leak> reply) {
        List<Leak> rows = new ArrayList<>();
        for (Iterator<Leak> all = reply.iterator(); all.hasNext();) {
            Leak row = all.next();
            if (row.isHistory()) {
                rows.add(row);
                all.remove();
            }
        }
        return rows;
    }

    private static Map<Object, Long> times(List<Leak> rows) {
        Map<Object, Long> times = new HashMap<>();
        rows.forEach(row -> times.put(key(row), row.times()));
        return times;
    }

    private static Object key(Leak row) {
        return Arrays.asList(row.owner(), row.database(), row.name());
    }

    /** Reports whether an owner is a thread of this JVM that was at work when the test began. */
    boolean wasAtWork(String owner) {
        return threads.haveAtWork(Owners.threadOf(owner));
    }

    /**
     * Reports whether an owner runs beside the tests: a thread that was at work when the test began, one of a
     * scheduler, or an owner outside of this JVM that had acquired a lock before.
     */
    boolean isOfTask(String owner) {
        long thread = Owners.threadOf(owner);
        return threads.haveAtWork(thread) || Owners.isOfScheduler(thread)
                || others.contains(owner) && !Owners.isAlive(thread);
    }

    /** Reports whether an owner that runs beside the tests has acquired a lock lately. */
    boolean isOfTasks(String lock) {
        return rows.stream().anyMatch(row -> row.name().equals(lock) && isOfTask(row.owner()));
    }

    /**
     * Reports whether an owner is a thread of this JVM that was inside a lock's method when the test began. What it
     * waited for then is not the test's: an outage has kept it from an earlier check.
     */
    boolean wasLocking(String owner) {
        return lockingBefore.contains(Owners.threadOf(owner));
    }

    /** Returns the ids of threads inside a lock's method now, without those that were at work when the test began. */
    Set<Long> locking() {
        Set<Long> ids = Threads.now().locking();
        ids.removeIf(threads::haveAtWork);
        return ids;
    }

    /**
     * Reports whether a thread of this JVM has acquired a lock in the test and is active: it may acquire one again.
     */
    boolean hasActiveThread(Predicate<Leak> counted) {
        Map<String, Boolean> active = new HashMap<>(); // by owner: to look at a thread takes long
        return rows.stream().anyMatch(row -> isOfTest(row)
                && active.computeIfAbsent(row.owner(), Owners::isActiveElsewhere) && counted.test(row));
    }

    /** Returns the locks that an owner of the test has acquired long after the test. */
    List<Leak> loops(Predicate<Leak> counted) {
        List<Leak> loops = new ArrayList<>();
        for (Leak row : rows) {
            if (later != null && row.times() != later.getOrDefault(key(row), 0L) && isOfTest(row) && counted.test(row)) {
                loops.add(row);
            }
        }
        return loops;
    }

    /** Reports whether an owner has acquired a lock since the test began, and does not run beside the tests. */
    private boolean isOfTest(Leak row) {
        return row.times() != before.getOrDefault(key(row), 0L) && !Owners.isCurrent(row.owner())
                && !isOfTask(row.owner());
    }
}
