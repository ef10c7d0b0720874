package io.github.lockredis.server;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The looks at a server after a test has ended. They go on until each leak has had the time to disappear, and no thread
 * of the test is seen that may acquire a lock.
 */
final class LastLooks {
    /**
     * How long a leak has to disappear, in milliseconds. Redisson unsubscribes after lock() has returned. A thread of
     * the test that has acquired a lock, and is active, has as long to acquire one again.
     */
    private static final long GRACE = 1000;

    /**
     * How long the check looks at most, in milliseconds. A thread that is inside the method of a lock has this time to
     * acquire it: a cold, busy JVM takes long.
     */
    private static final long LONGEST = 5000;

    /** How long a waiter has to acquire what was released at the test's end, if no thread is seen that waits. */
    private static final long HAND_OVER = 125;

    /** The longest pause between two looks, in milliseconds. */
    private static final long PAUSE = 64;

    /** So many leaks that a look takes long. Then the check looks again only once. */
    private static final int MANY = 1000;

    private final LockredisServer server;
    private final View view;
    private final Predicate<Leak> counted;
    private final Interrupts interrupts;
    private final boolean tasksAllowed; // threads may lock in a loop

    LastLooks(LockredisServer server, View view, Predicate<Leak> counted, Interrupts interrupts, boolean tasksAllowed) {
        this.server = server;
        this.view = view;
        this.counted = counted;
        this.interrupts = interrupts;
        this.tasksAllowed = tasksAllowed;
    }

    /**
     * Looks until the leaks have had the time to disappear, and no thread may acquire a lock. Returns the leaks.
     *
     * @param clean whether to wake the waiters for locks that are free
     */
    Collection<Leak> await(boolean clean) {
        Stays stays = new Stays();
        Waiters waiters = new Waiters(server);
        Long begin = null; // when the first look was answered
        long calm = 0; // when the last leak of a look disappeared, or begin
        for (long pause = 1;; pause = Math.min(2 * pause, PAUSE)) {
            // Asked before the look: so the look sees the lock of a thread that has left the method since.
            boolean locking = view.hasLockingThread();
            Map<Object, Leak> left = view.leaks();
            if (begin == null) {
                begin = view.answeredAt();
                calm = begin;
            }
            removeBackgroundTurns(left, begin);
            calm = left.isEmpty() ? calm : view.lookedAt();
            stays.look(left, view.lookedAt(), view.answeredAt());
            long passed = Math.max(0, Stays.millisBetween(begin, view.lookedAt())); // the first look began before begin
            long rest;
            if (left.isEmpty()) {
                rest = patience(locking, Stays.millisBetween(begin, calm)) - passed;
            } else {
                long longest = loops().isEmpty() ? LONGEST : GRACE;
                rest = Math.min(longest - passed, stays.rest(GRACE, view.lookedAt()));
            }
            if (rest <= 0) {
                break;
            }
            if (left.isEmpty() && clean && waiters.set(idle(Waiters::isOfLock)) && !waiters.isEmpty()) {
                waiters.wake(false, false); // the key of a waiter's lock may have been deleted
            }
            interrupts.pause(left.size() > MANY ? rest : Math.min(pause, rest));
        }
        Map<Object, Leak> leaks = stays.stayed(GRACE, view.lookedAt());
        addLoops(leaks);
        return leaks.values();
    }

    /** Removes the locks that owners which run beside the tests have acquired since the first look. */
    private void removeBackgroundTurns(Map<Object, Leak> left, long begin) {
        left.values().removeIf(leak -> view.runsBesideTests(leak) && Stays.acquiredAt(leak, view.lookedAt()) > begin);
    }

    /** Adds the locks that threads acquire in a loop, unless they are there as held. */
    private void addLoops(Map<Object, Leak> leaks) {
        for (Leak loop : loops()) {
            if (leaks.values().stream().noneMatch(leak -> isSameHold(leak, loop))) {
                leaks.put(loop, loop);
            }
        }
    }

    /**
     * Returns for how many milliseconds after the test the check looks on without a leak: so long a thread may still
     * acquire a lock.
     *
     * @param locking whether a thread is inside a lock's method
     * @param calm when the last leak disappeared, in milliseconds after the test
     */
    private long patience(boolean locking, long calm) {
        if (!loops().isEmpty()) {
            return 0;
        }
        if (locking) {
            return LONGEST;
        }
        if (!tasksAllowed && view.mayLoop()) {
            return Math.min(calm + GRACE, LONGEST);
        }
        return view.idle().isEmpty() ? 0 : HAND_OVER;
    }

    /** Returns the locks that threads of the test acquire in a loop, as the history shows them. */
    private Collection<Leak> loops() {
        return tasksAllowed ? Collections.emptyList() : view.loops();
    }

    /** Returns the subscriptions without a leak that are wanted, and that the check counts. */
    Collection<Leak> idle(Predicate<Leak> wanted) {
        Collection<Leak> idle = new ArrayList<>(view.idle());
        idle.removeIf(leak -> !wanted.test(leak) || !counted.test(leak));
        return idle;
    }

    private static boolean isSameHold(Leak leak, Leak other) {
        return leak.owner().equals(other.owner()) && leak.name().equals(other.name())
                && leak.database() == other.database();
    }
}
