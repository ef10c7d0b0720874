package io.github.lockredis.server;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** What a server shows of one test, at the last look. */
final class View {
    private final LockredisServer server;
    private final Predicate<Leak> counted;
    private final Baseline before;
    private final History history;
    private Collection<Leak> seen = Collections.emptyList(); // also what does not count
    private long lookedAt; // the time before the last look
    private long answeredAt; // the time after it

    View(LockredisServer server, Predicate<Leak> counted, Baseline before, History history) {
        this.server = server;
        this.counted = counted;
        this.before = before;
        this.history = history;
    }

    /** Returns a view of the same test with another baseline. */
    View since(Baseline later) {
        return new View(server, counted, later, history);
    }

    /** Looks, and returns the leaks that were not there before the test, by their keys and numbers. */
    Map<Object, Leak> leaks() {
        look();
        return added(leak -> leak.counts() && counted.test(leak) && !isForBackgroundLock(leak));
    }

    /** Reports whether it is a subscription for a lock that is also acquired beside the tests. */
    private boolean isForBackgroundLock(Leak leak) {
        return Waiters.isOfLock(leak) && history.isAcquiredBesideTests(leak.waitsFor());
    }

    /** Looks. */
    void look() {
        lookedAt = System.nanoTime();
        seen = server.allLeaks();
        answeredAt = System.nanoTime();
        history.look(seen, lookedAt);
    }

    /** Returns all that the last look saw. */
    Collection<Leak> seen() {
        return seen;
    }

    /** Returns the time before the last look, as System.nanoTime gives it. */
    long lookedAt() {
        return lookedAt;
    }

    /** Returns the time after the last look, as System.nanoTime gives it. */
    long answeredAt() {
        return answeredAt;
    }

    /** Returns what the last look saw, was not there before the test, and is wanted. It need not count. */
    Map<Object, Leak> added(Predicate<Leak> wanted) {
        List<Leak> leaks = new ArrayList<>();
        for (Leak leak : seen) {
            if (!server.known().isKnown(leak) && wanted.test(leak)) {
                leaks.add(leak);
            }
        }
        return before.added(leaks);
    }

    /**
     * Returns the subscriptions to channels of locks and semaphores that do not count, and were not there
     * before the test. There may be a waiter.
     */
    Collection<Leak> idle() {
        return added(leak -> !leak.counts()
                && (Waiters.isOfLock(leak) || Waiters.isOfSemaphore(leak))).values();
    }

    /** Reports whether a lock's owner is a thread of this JVM that was at work before the test. */
    boolean wasAtWork(Leak leak) {
        return history.wasAtWork(leak.owner());
    }

    /** Reports whether a lock's owner runs beside the tests. */
    boolean runsBesideTests(Leak leak) {
        return history.runsBesideTests(leak.owner());
    }

    /** Reports whether a thread is inside a lock's method that was not at work when the test began. */
    boolean hasLockingThread() {
        return history.hasLockingThread();
    }

    /** Reports whether a thread that has acquired a lock in the test is active: it may acquire one again. */
    boolean mayLoop() {
        return history.hasActiveThread(this::isWanted);
    }

    /** Returns the locks that owners of the test acquire in a loop. */
    List<Leak> loops() {
        return history.loops(this::isWanted);
    }

    private boolean isWanted(Leak leak) {
        return counted.test(leak) && !server.known().isKnown(leak);
    }
}
