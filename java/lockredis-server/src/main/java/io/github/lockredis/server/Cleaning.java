package io.github.lockredis.server;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Ends what a test has left behind, before the next test begins. One loop wakes waiters, and goes on while
 * they end one after the other.
 */
final class Cleaning {
    /** How long the waiters may take to end. */
    private static final Duration FAILED = Duration.ofSeconds(5);

    /** The same after a test that has passed. It left a few waiters of semaphores. */
    private static final Duration PASSED = Duration.ofSeconds(2);

    /** No waiter is left at a subscription if none ends for so long: Redisson forgets some subscriptions. */
    private static final Duration SUBSCRIBED = Duration.ofSeconds(1);

    /**
     * No waiter is left without a subscription if none acquires a lock, or subscribes, for so long. One of a
     * spin lock tries again after up to an eighth of a second, and shows nothing meanwhile: after the first
     * one the time is SUBSCRIBED. One of a semaphore may subscribe when another has unsubscribed.
     */
    private static final Duration HIDDEN = Duration.ofMillis(300);

    /** A client whose blocking command has failed has ended if it sends none for so long. */
    private static final Duration BLOCKED = Duration.ofMillis(1500);

    /** The longest pause between two looks, in milliseconds. */
    private static final long PAUSE = 64;

    private final LockredisServer server;
    private final View view;
    private final Interrupts interrupts;
    private final Waiters waiters;
    private final Set<Object> locks = new HashSet<>(); // of the failure: databases and names
    private final Set<Object> acquired = new HashSet<>(); // the same with the owner
    private final Map<Object, Integer> ended = new HashMap<>(); // blocking commands, by Baseline.key
    private final long begin = System.nanoTime();
    private boolean spinning; // whether a waiter without a subscription has acquired a lock
    private Object errors = ""; // that replies had, as INFO counts them

    Cleaning(LockredisServer server, View view, Interrupts interrupts) {
        this.server = server;
        this.view = view;
        this.interrupts = interrupts;
        waiters = new Waiters(server);
    }

    /**
     * Ends what a failed test has left behind: deletes all data, and ends the waiters. A subscription that
     * does not count may be a waiter's too.
     */
    void afterFailure(Collection<Leak> leaks) {
        for (Leak leak : leaks) {
            if (leak.isBlocked()) {
                ended.merge(Baseline.key(leak), 1, Integer::sum);
                server.kit("CLIENT", "UNBLOCK", Long.toString(leak.client().id()), "ERROR");
            } else if (leak.type().equals("lock") || leak.isHistory()) {
                locks.add(name(leak));
                acquired.add(hold(leak));
            }
        }
        server.flush();
        waiters.wakeLatches(view.seen());
        end(() -> view.added(leak -> leak.type().equals("subscription")).values(), true, FAILED);
        server.flush();
    }

    /** Ends the waiters that there may be at subscriptions to semaphores. Only the semaphores are deleted. */
    void afterSuccess(Collection<Leak> subscriptions) {
        if (subscriptions.isEmpty()) {
            return;
        }
        Set<String> channels = new HashSet<>();
        subscriptions.forEach(leak -> channels.add(leak.name()));
        end(() -> view.added(leak -> Waiters.isOfSemaphore(leak) && channels.contains(leak.name())).values(),
                false, PASSED);
        waiters.deleteSemaphores();
    }

    /**
     * Wakes waiters again and again, until no waiter is left or the time is over.
     *
     * @param subscriptions returns those of the last look at which there may be waiters
     * @param flush whether to delete all data each time
     */
    private void end(Supplier<Collection<Leak>> subscriptions, boolean flush, Duration time) {
        long start = System.nanoTime();
        long changed = start;
        long pause = 1;
        for (boolean first = true;; first = false) {
            view.look();
            boolean more = waiters.set(subscriptions.get());
            more |= haveAcquired();
            more |= haveFailed();
            long now = System.nanoTime();
            if (more) {
                changed = now;
                pause = 1;
            }
            if (now - changed >= quiet().toNanos() || now - start >= time.toNanos()) {
                return;
            }
            waiters.wake(flush, more && !first);
            interrupts.pause(pause);
            pause = Math.min(2 * pause, PAUSE);
        }
    }

    /** Returns how long nothing may happen until no waiter is left. */
    private Duration quiet() {
        Map<Object, Integer> missing = new HashMap<>(ended);
        Duration passed = Duration.ofNanos(view.lookedAt() - begin);
        for (Leak leak : view.seen()) {
            if (leak.heldFor().filter(waited -> waited.compareTo(passed) < 0).isPresent()) {
                missing.computeIfPresent(Baseline.key(leak), (key, count) -> count == 1 ? null : count - 1);
            }
        }
        if (!missing.isEmpty()) {
            return BLOCKED;
        }
        if (!waiters.isEmpty() || spinning) {
            return SUBSCRIBED;
        }
        return locks.isEmpty() && waiters.haveNeverBeen() ? Duration.ZERO : HIDDEN;
    }

    /**
     * Reports whether an owner has acquired one of the locks for the first time. An owner that acquires one
     * again is a thread that locks in a loop.
     */
    private boolean haveAcquired() {
        boolean more = false;
        for (Leak leak : view.seen()) {
            if (!leak.type().equals("lock")) {
                continue;
            }
            boolean wanted = locks.contains(name(leak)) || waiters.isWanted(leak.name());
            if (wanted && acquired.add(hold(leak))) {
                more = true;
                spinning |= !waiters.isWanted(leak.name());
            }
        }
        return more;
    }

    /** Reports whether a script has failed since the last look: a waiter of a semaphore has ended. */
    private boolean haveFailed() {
        if (!waiters.haveSemaphores()) {
            return false;
        }
        Object before = errors;
        errors = server.kit("INFO", "errorstats");
        return !errors.equals(before);
    }

    private static Object name(Leak leak) {
        return Arrays.asList(leak.database(), leak.name());
    }

    private static Object hold(Leak leak) {
        return Arrays.asList(leak.database(), leak.name(), leak.owner());
    }
}
