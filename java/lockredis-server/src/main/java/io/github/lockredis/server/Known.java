package io.github.lockredis.server;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** What outlives its test. Later tests are not to blame for it, so it is not told again. */
final class Known {
    private final Map<Object, Integer> blocked = new HashMap<>(); // clients, by Baseline.key; guarded by this
    private final Map<Object, String> told = new HashMap<>(); // owners by claim; guarded by this
    private final Set<Long> cutOff = new HashSet<>(); // ids of threads inside a lock's method; guarded by this
    private boolean outage; // since the last test began; guarded by this

    /**
     * Begins a test. Adds the clients that wait in a blocking command now: such a client works on an element now and
     * then, and waits again. Forgets the locks of threads whose tasks have ended: the test may give them another.
     * Behind an outage, adds the threads that wait for a lock: it may have hidden them from the check.
     */
    synchronized void begin(Collection<Leak> present, Threads threads) {
        Set<Long> locking = threads.locking();
        if (outage) {
            cutOff.addAll(locking);
            outage = false;
        }
        cutOff.retainAll(locking);
        told.values().removeIf(owner -> !Owners.isActiveElsewhere(owner));
        Map<Object, Integer> counts = new HashMap<>();
        for (Leak leak : present) {
            if (leak.isBlocked()) {
                counts.merge(Baseline.key(leak), 1, Integer::sum);
            }
        }
        counts.forEach((key, count) -> blocked.merge(key, count, Math::max));
    }

    /** Returns how many clients in a blocking command a test has found at its beginning, by {@link Baseline#key}. */
    synchronized Map<Object, Integer> blocked() {
        return new HashMap<>(blocked);
    }

    /** Notes that clients have lost their connections, or may have. */
    synchronized void outage() {
        outage = true;
    }

    /** Adds the locks of a failure whose owners are other threads of this JVM that are still active. */
    synchronized void addTold(Collection<Leak> leaks) {
        for (Leak leak : leaks) {
            if (Owners.isActiveElsewhere(leak.owner())) {
                told.put(claim(leak), leak.owner());
            }
        }
    }

    /**
     * Reports whether a failure has told this lock of its owner, who is still active, or whether the owner is a thread
     * that has waited for it since an outage before the test.
     */
    synchronized boolean isKnown(Leak leak) {
        return cutOff.contains(Owners.threadOf(leak.owner()))
                || told.containsKey(claim(leak)) && Owners.isActiveElsewhere(leak.owner());
    }

    /** Returns a lock and its owner, who holds it or is queued for it. */
    private static Object claim(Leak leak) {
        return Arrays.asList(leak.owner(), leak.database(), leak.name());
    }
}
