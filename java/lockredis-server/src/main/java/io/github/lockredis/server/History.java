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
     * The time after a test, in nanoseconds, in which the tasks of an executor may still get their turns. A thread that
     * has acquired a lock in the test, or in this time, and acquires one later, locks in a loop.
     */
    private static final long LAST_TURNS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Map<Object, Long> timesBefore; // when the test began, by owner and lock
    private final Set<String> ownersBefore = new HashSet<>(); // that had acquired a lock when the test began
    private final Threads threadsBefore; // when the test began
    private Long ended; // the time of the first look after the test, as System.nanoTime gives it. Null: there was none
    private Map<Object, Long> timesLater; // at the first look after LAST_TURNS. Null: there was none
    private final Set<String> ownersEarly = new HashSet<>(); // that had acquired a lock by then, since the test began
    private List<Leak> rows; // of the last reply

    /** Makes the history of a test that begins now. Takes its rows out of a reply. */
    History(Collection<Leak> reply, Threads threads) {
        threadsBefore = threads;
        rows = take(reply);
        timesBefore = times(rows);
        rows.forEach(row -> ownersBefore.add(row.owner()));
    }

    /**
     * Takes the rows of the history out of a reply after the test.
     *
     * @param lookedAt when the server was asked, as System.nanoTime gives it
     */
    void look(Collection<Leak> reply, long lookedAt) {
        rows = take(reply);
        if (ended == null) {
            ended = lookedAt;
        } else if (timesLater == null && lookedAt - ended >= LAST_TURNS) {
            timesLater = times(rows);
            rows.stream().filter(row -> hasAcquiredSince(timesBefore, row)).forEach(row -> ownersEarly.add(row.owner()));
        }
    }

    /** Removes the rows of the history from a reply, and returns them. */
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
        return threadsBefore.hadAtWork(Owners.threadOf(owner));
    }

    /**
     * Reports whether an owner runs beside the tests: a thread that was at work when the test began, one of a
     * scheduler, or an owner outside of this JVM that had acquired a lock before.
     */
    boolean runsBesideTests(String owner) {
        long thread = Owners.threadOf(owner);
        return threadsBefore.hadAtWork(thread) || Owners.isOfScheduler(thread)
                || ownersBefore.contains(owner) && !Owners.isAlive(thread);
    }

    /** Reports whether an owner that runs beside the tests has acquired a lock, as the last reply tells. */
    boolean isAcquiredBesideTests(String lock) {
        return rows.stream().anyMatch(row -> row.name().equals(lock) && runsBesideTests(row.owner()));
    }

    /** Reports whether a thread is inside a lock's method now that was not at work when the test began. */
    boolean hasLockingThread() {
        return Threads.now().locking().stream().anyMatch(id -> !threadsBefore.hadAtWork(id));
    }

    /**
     * Reports whether a thread of this JVM has acquired a lock in the test and is active: it may acquire one again.
     */
    boolean hasActiveThread(Predicate<Leak> counted) {
        Map<String, Boolean> active = new HashMap<>(); // by owner: to look at a thread takes long
        return rows.stream().anyMatch(row -> isOfTest(row)
                && active.computeIfAbsent(row.owner(), Owners::isActiveElsewhere) && counted.test(row));
    }

    /** Returns the locks that owners of the test have acquired after LAST_TURNS, if they had acquired one before. */
    List<Leak> loops(Predicate<Leak> counted) {
        List<Leak> loops = new ArrayList<>();
        if (timesLater != null) {
            for (Leak row : rows) {
                if (ownersEarly.contains(row.owner()) && hasAcquiredSince(timesLater, row) && isOfTest(row)
                        && counted.test(row)) {
                    loops.add(row);
                }
            }
        }
        return loops;
    }

    /** Reports whether an owner has acquired a lock since the test began, and does not run beside the tests. */
    private boolean isOfTest(Leak row) {
        return hasAcquiredSince(timesBefore, row) && !Owners.isCurrent(row.owner()) && !runsBesideTests(row.owner());
    }

    private static boolean hasAcquiredSince(Map<Object, Long> times, Leak row) {
        return row.times() != times.getOrDefault(key(row), 0L);
    }
}
