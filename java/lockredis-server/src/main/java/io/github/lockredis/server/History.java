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
import java.util.function.Predicate;

/**
 * How often owners have acquired locks, as the server counts it. So a thread that locks in a loop is found also if
 * every look falls between two holds.
 */
final class History {
    /** A thread that has acquired one lock so often since its test ended locks in a loop. */
    private static final long TURNS = 2;

    private final Map<Object, Long> before; // times by owner and lock, when the test began
    private final Set<String> others = new HashSet<>(); // owners that had acquired a lock before
    private final Threads threads; // when the test began
    private Map<Object, Long> ended; // times at the first look after the test. Null: there was none
    private List<Leak> rows; // of the last reply

    /** Makes the history of a test that begins now. Takes its rows out of a reply. */
    History(Collection<Leak> reply, Threads threads) {
        this.threads = threads;
        rows = take(reply);
        before = times(rows);
        rows.forEach(row -> others.add(row.owner()));
        others.removeIf(Owners::isCurrent);
    }

    /** Reports whether an owner is a thread of this JVM that was at work before the test. */
    boolean wasAtWork(String owner) {
        return threads.haveAtWork(owner);
    }

    /** Reports whether an owner was at work before the test, or had acquired a lock and is none of this JVM. */
    boolean isOfOther(String owner) {
        return wasAtWork(owner) || others.contains(owner) && !threads.contains(Owners.threadOf(owner));
    }

    /** Reports the same of an owner that had acquired a lock before the test, too. */
    boolean isOfTask(String owner) {
        return others.contains(owner) && isOfOther(owner);
    }

    /** Reports whether a thread runs now that did not when the test began. */
    boolean haveStarted(Threads now) {
        return now.haveStarted(threads);
    }

    /** Reports whether an owner has acquired a lock that was at work before the test. */
    boolean isOfOthers(String lock) {
        return rows.stream().anyMatch(row -> row.name().equals(lock) && isOfOther(row.owner()));
    }

    /** Returns the threads inside a lock's method that were not at work when the test began. */
    Set<Long> locking(Threads now) {
        return now.lockingSince(threads);
    }

    /** Takes the rows of the history out of a reply after the test. */
    void look(Collection<Leak> reply) {
        rows = take(reply);
        if (ended == null) {
            ended = times(rows);
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

    /**
     * Reports whether a thread of this JVM has acquired a lock in the test and is active: it may acquire one again.
     */
    boolean hasActiveThread(Predicate<Leak> counted) {
        Map<String, Boolean> active = new HashMap<>(); // by owner: to look at a thread takes long
        return rows.stream().anyMatch(row -> isOfTest(row)
                && active.computeIfAbsent(row.owner(), Owners::isActiveElsewhere) && counted.test(row));
    }

    /** Returns the locks that an owner of the test has acquired again and again since the test ended. */
    List<Leak> loops(Predicate<Leak> counted) {
        List<Leak> loops = new ArrayList<>();
        for (Leak row : rows) {
            if (row.times() >= ended.getOrDefault(key(row), 0L) + TURNS && isOfTest(row) && counted.test(row)) {
                loops.add(row);
            }
        }
        return loops;
    }

    /** Reports whether an owner has acquired a lock since the test began, and did not run before. */
    private boolean isOfTest(Leak row) {
        return isNew(row) && !isOfOther(row.owner()) && !Owners.isCurrent(row.owner());
    }

    private boolean isNew(Leak row) {
        return row.times() != before.getOrDefault(key(row), 0L);
    }
}
