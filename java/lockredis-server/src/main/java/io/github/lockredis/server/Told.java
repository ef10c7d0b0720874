package io.github.lockredis.server;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The threads and clients that outlive a test, as failures have told them and as later tests have seen
 * them. Later tests are not to blame for them. A told lock of a thread of this JVM that waits for its next
 * task counts nevertheless: the task that acquired it has ended without its release.
 */
final class Told {
    private final Map<String, Integer> owners = new HashMap<>(); // first seen by a check; guarded by this
    private final Map<Object, Integer> blocked = new HashMap<>(); // clients, by Baseline.key; guarded by this
    private int checks; // guarded by this
    private final Set<Object> loops = new HashSet<>(); // owners and their locks; guarded by this
    private final Map<String, Set<Object>> locks = new HashMap<>(); // by owner; guarded by this
    private final Set<Long> waiting = new HashSet<>(); // threads that no test is to blame for; guarded by this

    /**
     * Begins a check, and returns its number: 1 is the first. What is present when it begins is known to it. A thread
     * that waits for its next task then is not: the test may give it one.
     */
    synchronized int begin(Collection<Leak> present) {
        see(present, checks++);
        owners.keySet().removeIf(Owners::isIdle);
        Map<Object, Integer> counts = new HashMap<>();
        for (Leak leak : present) {
            if (isBlocked(leak)) {
                counts.merge(Baseline.key(leak), 1, Integer::sum);
            }
        }
        counts.forEach((key, count) -> blocked.merge(key, count, Math::max));
        return checks;
    }

    /** Remembers the owners that the check with a number has seen. */
    synchronized void see(Collection<Leak> seen, int check) {
        for (Leak leak : seen) {
            if (!leak.owner().isEmpty() && !leak.type().equals("permit")) {
                owners.merge(leak.owner(), check, Math::min);
            }
        }
    }

    /** Reports whether the owner of a lock was seen before the check with a number began. */
    synchronized boolean isKnown(Leak leak, int check) {
        return owners.getOrDefault(leak.owner(), check) < check;
    }

    /**
     * Returns how many clients in a blocking command a test has found at its beginning, by
     * {@link Baseline#key}. Such a client works on an element now and then, and waits again.
     */
    synchronized Map<Object, Integer> blocked() {
        return new HashMap<>(blocked);
    }

    /** Reports whether it is a client in a blocking command. */
    static boolean isBlocked(Leak leak) {
        return leak.type().equals("waiter") && leak.owner().isEmpty();
    }

    /**
     * Adds a lock that its owner acquires again and again, as a failure tells. Other locks of the owner are not
     * told. The thread that asks is no such owner.
     */
    synchronized void addLoop(Leak leak) {
        if (!Owners.isCurrent(leak.owner())) {
            loops.add(turn(leak));
            if (!isOfBusy(leak) && Owners.isBusy(leak.owner())) { // to look at all threads takes long
                addBusy(Collections.singleton(leak));
            }
        }
    }

    /**
     * Adds the locks whose owners are other threads at work. Other locks of the threads are not told. A thread that
     * has not acquired the lock yet may wait for it, or loop over it too. So each lock is told for all threads
     * that are at work now.
     */
    synchronized void addBusy(Collection<Leak> leaks) {
        Set<Long> busy = Owners.busyElsewhere();
        for (Leak leak : leaks) {
            if (busy.contains(Owners.threadOf(leak.owner()))) {
                busy.forEach(thread -> locks.computeIfAbsent(Owners.withThread(leak.owner(), thread),
                        owner -> new HashSet<>()).add(name(leak)));
            }
        }
    }

    private synchronized boolean isOfBusy(Leak leak) {
        return locks.getOrDefault(leak.owner(), Collections.emptySet()).contains(name(leak));
    }

    /**
     * Adds threads that were inside a lock's method when a check ended, though the server showed no waiter. What they
     * acquire in a later test is no leak, until they are seen to wait for their next task.
     */
    synchronized void addWaiting(Set<Long> threads) {
        waiting.addAll(threads);
    }

    /** Returns the threads without the ones that {@link #addWaiting} has added. */
    synchronized Set<Long> withoutWaiting(Set<Long> threads) {
        Set<Long> others = new HashSet<>(threads);
        others.removeAll(waiting);
        return others;
    }

    /** Reports whether a lock was acquired by a thread that {@link #addWaiting} has added. */
    synchronized boolean isOfWaiting(Leak leak) {
        return waiting.contains(Owners.threadOf(leak.owner())) && isElsewhere(leak);
    }

    /** Forgets the locks of threads whose task has ended. A loop may be a scheduled task: it stays. */
    synchronized void forgetIdle() {
        locks.keySet().removeIf(Owners::isIdle);
        waiting.removeIf(Owners::isIdle); // one that has ended may hold a lock
    }

    synchronized boolean contains(Leak leak) {
        return isOfWaiting(leak) || (loops.contains(turn(leak)) || isOfBusy(leak)) && isElsewhere(leak);
    }

    /** Reports whether an owner is neither the thread that asks, nor one that waits for its next task. */
    private static boolean isElsewhere(Leak leak) {
        return !Owners.isIdle(leak.owner()) && !Owners.isCurrent(leak.owner());
    }

    /** Returns a lock and its owner, who holds it or is queued for it. */
    private static Object turn(Leak leak) {
        return Arrays.asList(leak.owner(), leak.database(), leak.name());
    }

    private static Object name(Leak leak) {
        return Arrays.asList(leak.database(), leak.name());
    }
}
