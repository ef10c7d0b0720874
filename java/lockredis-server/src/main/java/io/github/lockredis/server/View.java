package io.github.lockredis.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** What a server shows of one test, at the last look. */
final class View {
    private final LockredisServer server;
    private final Predicate<Leak> counted;
    private final Baseline before;
    private final History history;
    private final int check; // its number, from Told
    private Collection<Leak> seen = Collections.emptyList(); // also what does not count
    private long lookedAt; // the time before the last look
    private long answeredAt; // the time after it

    View(LockredisServer server, Predicate<Leak> counted, Baseline before, History history, int check) {
        this.server = server;
        this.counted = counted;
        this.before = before;
        this.history = history;
        this.check = check;
    }

    /** Returns a view of the same test with another baseline, and other leaks that count. */
    View since(Baseline later, Predicate<Leak> counted) {
        return new View(server, counted, later, history, check);
    }

    /** Looks, and returns the leaks that were not there before the test, by their keys and numbers. */
    Map<Object, Leak> leaks() {
        look();
        return addedLeaks();
    }

    /** Returns the leaks of the last look. */
    Map<Object, Leak> addedLeaks() {
        return added(leak -> leak.counts() && counted.test(leak) && !isOfTasks(leak));
    }

    /** Reports whether it is a subscription for a lock that tasks contend for which ran before the test. */
    private boolean isOfTasks(Leak leak) {
        return Waiters.isOfLock(leak) && history.isOfOthers(leak.waitsFor());
    }

    /** Looks. */
    void look() {
        look(server::allLeaks);
    }

    /** Looks by a call that returns what is there. */
    void look(Supplier<Collection<Leak>> call) {
        lookedAt = System.nanoTime();
        seen = call.get();
        answeredAt = System.nanoTime();
        history.look(seen);
        server.told().see(seen, check);
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
            if (!server.told().contains(leak) && wanted.test(leak) && !isBehindWaiting(leak)) {
                leaks.add(leak);
            }
        }
        return before.added(leaks);
    }

    /** Reports whether it is a subscription that waits for a lock which a told waiter has acquired. */
    private boolean isBehindWaiting(Leak leak) {
        return Waiters.isOfLock(leak) && seen.stream().anyMatch(lock -> server.told().isOfWaiting(lock)
                && Waiters.isWanted(lock.name(), Collections.singleton(leak)));
    }

    /**
     * Returns the subscriptions to channels of locks and semaphores that do not count, and were not there
     * before the test. There may be a waiter.
     */
    Collection<Leak> idle() {
        return added(leak -> !leak.counts()
                && (Waiters.isOfLock(leak) || Waiters.isOfSemaphore(leak))).values();
    }

    /**
     * Reports whether a lock's owner is a task that ran before the test, or that earlier tests have seen too: it
     * outlives tests. A thread that waits for its next task, and the thread of the test, acquire nothing by
     * themselves.
     */
    boolean isOfTask(Leak leak) {
        return history.isOfOther(leak.owner()) || isKnown(leak);
    }

    /** Reports whether a lock's owner is a thread of this JVM that was at work before the test. */
    boolean wasAtWork(Leak leak) {
        return history.wasAtWork(leak.owner());
    }

    private boolean isKnown(Leak leak) {
        return server.told().isKnown(leak, check) && !Owners.isIdle(leak.owner()) && !Owners.isCurrent(leak.owner());
    }

    /** Reports whether a thread runs now that did not when the test began. It may acquire a lock. */
    boolean haveStarted(Threads now) {
        return history.haveStarted(now);
    }

    /** Returns the threads inside a lock's method that were not at work when the test began. */
    Set<Long> locking(Threads now) {
        return history.locking(now);
    }

    /** Reports whether a thread of the test is active that has acquired a lock, and may do so again. */
    boolean mayLoop() {
        return history.hasActiveThread(this::isOfTest);
    }

    /** Returns the locks that owners have acquired again and again since the test ended. */
    List<Leak> loops() {
        return history.loops(this::isOfTest);
    }

    private boolean isOfTest(Leak leak) {
        return counted.test(leak) && !server.told().contains(leak) && !isOfTask(leak);
    }

    /** Reports whether the last look saw a lock of a task that has locked before, acquired after a time. */
    boolean isNextTurn(Leak leak, long time) {
        Duration passed = Duration.ofNanos(lookedAt - time);
        return leak.heldFor().filter(held -> held.plusMillis(1).compareTo(passed) < 0).isPresent()
                && (history.isOfTask(leak.owner()) || isKnown(leak));
    }
}
