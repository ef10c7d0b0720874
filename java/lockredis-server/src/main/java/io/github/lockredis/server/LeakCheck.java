package io.github.lockredis.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Finds what one test leaves behind on a server. What was there before the test does not count: the
 * subscriptions of a client that the class shares.
 *
 * <p>The modules for JUnit and Spring use it, and so can an adapter for another test framework. One
 * thread at a time may call it.
 */
public final class LeakCheck {
    /**
     * How often the check looks again. The pauses are 1 ms, 2 ms, 4 ms and so on, about a second in
     * all. Redisson unsubscribes after lock() has returned.
     */
    private static final int TRIES = 10;

    /** So many leaks that a look takes long. Then the check looks again only once. */
    private static final int MANY = 1000;

    /** How long the waiters of locks may take that acquire, one after the other, after a failed test. */
    private static final Duration CLEANING = Duration.ofSeconds(5);

    /** A pause that lasts longer at a test's end is left behind. */
    private static final Duration SHORT_PAUSE = Duration.ofSeconds(1);

    /**
     * How often the check looks whether a waiter acquires what was released at the test's end. The pauses are
     * 1 ms, 2 ms, 4 ms and so on, an eighth of a second in all.
     */
    private static final int HAND_OVERS = 7;

    /** How often the check looks whether a lock that was released is acquired again. */
    private static final int WATCHES = 10;

    /** The pause between two such looks, in milliseconds. */
    private static final long WATCH_PAUSE = 10;

    private final LockredisServer server;
    private final Predicate<Leak> counted;
    private final Baseline before;
    private Collection<Leak> seen = Collections.emptyList(); // by the last look, also what does not count
    private boolean tasksAllowed;
    private boolean interrupted; // the thread of uninterrupted

    private LeakCheck(LockredisServer server, Predicate<Leak> counted, Baseline before) {
        this.server = server;
        this.counted = counted;
        this.before = before;
    }

    /** Returns a check for a test that begins now. */
    public static LeakCheck begin(LockredisServer server) {
        return begin(server, leak -> true);
    }

    /** Returns a check for a test that begins now. Only the counted leaks are leaks. */
    public static LeakCheck begin(LockredisServer server, Predicate<Leak> counted) {
        Objects.requireNonNull(server, "begin(null): give the server that the test uses");
        Objects.requireNonNull(counted, "begin(…, null): give a function that is true for the leaks that"
                + " count, or leave it out: all count then");
        server.told().forgetIdle();
        return new LeakCheck(server, counted, new Baseline(present(server)));
    }

    /**
     * Returns the leaks before a test, and the subscriptions of no waiter: the test may take their locks. A
     * server that does not run has none: a test begins with an outage.
     */
    private static Collection<Leak> present(LockredisServer server) {
        try {
            return server.isRunning() ? server.allLeaks() : Collections.emptyList();
        } catch (LockredisException e) {
            if (server.isRunning()) {
                throw e;
            }
            return Collections.emptyList(); // it has ended just now
        }
    }

    /**
     * Lets threads that outlive the test acquire locks again and again: an application's scheduled tasks.
     * Without this call a lock is a leak if it is held at the test's end, released, and acquired again.
     * Returns this check.
     */
    public LeakCheck allowTasks() {
        tasksAllowed = true;
        return this;
    }

    /**
     * Prepares a server for the next test. It starts a stopped server, ends a pause of writes, and
     * deletes all data if flush says so. Then it also ends a pause of all clients with a second left
     * or more, by a restart. A server that does not answer, or refuses these commands, is killed and
     * started again: an endless script runs on it, or it has another password. It works on an
     * interrupted thread too.
     *
     * <p>Call {@link LockredisServer#unexpectedEnd} behind it: an end between two tests, and a server
     * that had to be killed, are not the next test's own.
     *
     * @throws LockredisException if the server is closed or does not start
     */
    public static void prepare(LockredisServer server, boolean flush) {
        Objects.requireNonNull(server, "prepare(null, …): give the server that the next test uses");
        Interrupts.run(() -> prepareRunning(server, flush));
    }

    private static void prepareRunning(LockredisServer server, boolean flush) {
        if (!server.isAttached() && !server.isRunning()) {
            server.restart();
            return;
        }
        if (!server.isAttached() && server.processes().replaceBroken()) {
            return;
        }
        try {
            endPause(server, flush);
            if (flush) {
                server.flush();
            } else if (!server.isAttached() && server.pause().left().isZero()) {
                server.command("PING");
            }
        } catch (LockredisException e) {
            if (server.isAttached() || server.isClosed()) {
                throw e;
            }
            server.processes().replace(server.isRunning() ? e.getMessage() : null);
        }
    }

    /** Ends a pause, one of all clients only if the data may be deleted. */
    private static void endPause(LockredisServer server, boolean delete) {
        Duration left = server.pause().left();
        if (!left.isZero() && !server.pause().holdsAll()) {
            server.unpauseClients();
        } else if (left.compareTo(SHORT_PAUSE) >= 0 && delete && !server.isAttached()) {
            server.restart();
        }
    }

    /**
     * Returns the text about the leaks of the test, which ends now, or null without leaks. A pause
     * that the test began, with a second left or more, is a leak. It ends a pause of writes. It waits
     * a moment for leaks to disappear. A lock that only expires in this time is a leak: its holder
     * has not released it. A lock that is acquired in this time is one if it stays for half a second:
     * a scheduled task of the application may hold a lock just now. If a lock was released in this time,
     * the check looks for another tenth of a second whether its owner acquires one again. If a client
     * began in the test to listen for the release of a lock or a permit that is free now, the check looks
     * for an eighth of a second whether a waiter acquires it.
     *
     * <p>It is null too if the server does not run, or does not answer as before. Call
     * {@link LockredisServer#unexpectedEnd} behind it: its text says so, and the next {@link #prepare}
     * starts the server again. What a thread that works on holds is told once. It works on an interrupted
     * thread too.
     *
     * @param clean whether to end the leaks: to delete all data, and to wake the waiters for locks, also
     *     waiters that do not count. A pause of all clients ends by a restart. Without a leak the check
     *     wakes waiters that began to wait in the test and are no leak: a waiter of a lock without a key
     *     acquires it, which is a leak, and a waiter of a semaphore gets an error
     */
    public String end(boolean clean) {
        if (!server.isRunning()) {
            return null;
        }
        return uninterrupted(() -> {
            try {
                return endRunning(clean);
            } catch (LockredisException e) {
                if (server.isAttached()) {
                    throw e;
                }
                if (server.isRunning()) { // else it has ended just now
                    server.processes().setBroken(e.getMessage());
                }
                return null;
            }
        });
    }

    /** Runs a check without the thread's interrupt, which it then has again. */
    private String uninterrupted(Supplier<String> check) {
        interrupted = Thread.interrupted();
        try {
            return check.get();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private String endRunning(boolean clean) {
        Duration pause = server.pause().left();
        if (pause.compareTo(SHORT_PAUSE) < 0) {
            return endLeaks(clean); // in a pause of all clients it waits
        }
        String text = "a pause was left on " + server.redissonAddress() + " for another "
                + pause.toMillis() + " ms: ";
        boolean all = server.pause().holdsAll();
        endPause(server, clean);
        if (all) { // it holds back the search for leaks, too
            return text + "pauseClients. Only restart() ends it early";
        }
        String leaks = endLeaks(clean);
        return text + "pauseWrites. unpauseClients() ends it" + (leaks == null ? "" : "\n" + leaks);
    }

    /** Returns the text about locks, waiters and subscriptions that are there now, or null. */
    static String leaks(LockredisServer server) {
        LeakCheck check = new LeakCheck(server, leak -> true, new Baseline(Collections.emptyList()));
        return check.uninterrupted(() -> check.endLeaks(false));
    }

    /** Returns the text about locks, waiters and subscriptions, or null. */
    private String endLeaks(boolean clean) {
        server.told().forgetIdle();
        Collection<Leak> leaks = await(clean);
        if (leaks.isEmpty()) {
            if (clean) {
                endWaiters(Waiters.unshared(seen,
                        idle(leak -> Waiters.isOfSemaphore(leak) && counted.test(leak))));
            }
            return null;
        }
        String text = before.text(server.redissonAddress(), leaks);
        if (!tasksAllowed) { // later tests are not to blame for a thread that runs on
            server.told().addBusy(leaks);
        }
        if (clean) {
            clean(leaks);
            if (!tasksAllowed) {
                acquiredAgain(owned(leaks));
            }
        }
        return text;
    }

    /**
     * Returns the leaks of the first look. Without leaks it looks again while a new subscription does not
     * count, but a waiter may have been told a moment ago that it can acquire.
     */
    private Map<Object, Leak> firstLook(boolean clean) {
        Map<Object, Leak> leaks = look();
        for (int i = 0; i < HAND_OVERS && leaks.isEmpty() && !idle(leak -> true).isEmpty(); i++) {
            if (i == 0 && clean) { // the key of a waiter's lock may have been deleted
                new Waiters(server, idle(leak -> Waiters.isOfLock(leak) && counted.test(leak))).wake();
            }
            pause(1L << i);
            leaks = look();
        }
        return leaks;
    }

    private Collection<Leak> await(boolean clean) {
        Map<Object, Leak> first = firstLook(clean);
        Set<Object> owned = new HashSet<>(owned(first.values()));
        Map<Object, Leak> left = first;
        long start = System.nanoTime();
        for (int i = 0; i < TRIES && !left.isEmpty(); i++) {
            long millis = 1L << i;
            if (left.size() > MANY) {
                millis = 1L << TRIES;
                i = TRIES - 1;
            }
            pause(millis);
            Map<Object, Leak> before = left;
            left = look();
            owned.addAll(owned(left.values()));
            if (i == TRIES - 1) {
                left.keySet().retainAll(before.keySet());
            }
            Duration passed = Duration.ofNanos(System.nanoTime() - start);
            for (Map.Entry<Object, Leak> leak : first.entrySet()) {
                boolean expired = leak.getValue().ttl()
                        .filter(ttl -> ttl.compareTo(passed) <= 0).isPresent();
                if (expired || left.containsKey(leak.getKey())) {
                    left.put(leak.getKey(), leak.getValue());
                }
            }
        }
        return left.isEmpty() && !tasksAllowed ? acquiredAgain(owned) : left.values();
    }

    /**
     * Returns a lock that is acquired after all locks were released: a thread of the test still runs, and
     * locks in a loop. Empty if there is none soon.
     *
     * @param owned what {@link #owned} returned of the locks before
     */
    private Collection<Leak> acquiredAgain(Set<Object> owned) {
        for (int i = 0; i < WATCHES && !owned.isEmpty(); i++) {
            pause(WATCH_PAUSE);
            for (Leak leak : look().values()) {
                if (!Collections.disjoint(owned(Collections.singleton(leak)), owned)) {
                    server.told().addLoop(leak);
                    return Collections.singleton(leak);
                }
            }
        }
        return Collections.emptyList();
    }

    /**
     * Returns the owners of locks, and their names. A thread may lock by another name next, and a permit
     * has a new owner each time. The database is the first part of a name's list.
     */
    private static Set<Object> owned(Collection<Leak> leaks) {
        Set<Object> owned = new HashSet<>();
        for (Leak leak : leaks) {
            if (!leak.owner().isEmpty()) {
                owned.add(leak.owner());
                owned.add(Arrays.asList(leak.database(), leak.name()));
            }
        }
        return owned;
    }

    /** Returns the leaks that were not there before the test, by their keys and numbers. */
    private Map<Object, Leak> look() {
        seen = server.allLeaks();
        return added(leak -> leak.counts() && counted.test(leak));
    }

    private Map<Object, Leak> added(Predicate<Leak> wanted) {
        List<Leak> leaks = new ArrayList<>();
        for (Leak leak : seen) {
            if (!server.told().contains(leak) && wanted.test(leak)) {
                leaks.add(leak);
            }
        }
        return before.added(leaks);
    }

    /**
     * Returns the wanted subscriptions to channels of locks and semaphores that do not count, and were not
     * there before the test. There may be a waiter.
     */
    private Collection<Leak> idle(Predicate<Leak> wanted) {
        return added(leak -> !leak.counts() && (Waiters.isOfLock(leak) || Waiters.isOfSemaphore(leak))
                && wanted.test(leak)).values();
    }

    /**
     * Ends what a failed test has left behind: see {@link Waiters}. A subscription that does not count may
     * be a waiter's too.
     */
    private void clean(Collection<Leak> leaks) {
        try {
            for (Leak leak : leaks) {
                if (leak.type().equals("waiter") && leak.owner().isEmpty()) {
                    server.command("CLIENT", "UNBLOCK", Long.toString(leak.client().id()), "ERROR");
                }
            }
            seen = server.allLeaks();
            Waiters waiters = new Waiters(server, added(leak -> leak.type().equals("subscription")).values());
            server.flush();
            waiters.wakeLatches();
            long end = System.nanoTime() + CLEANING.toNanos();
            for (int i = 0; i < TRIES && System.nanoTime() < end && waiters.wake();) {
                pause(1L << i);
                boolean acquired = server.leaks().stream().anyMatch(leak -> leak.type().equals("lock"));
                i = acquired ? 0 : i + 1; // then another waiter may wait for the same lock
                server.flush();
            }
        } catch (LockredisException e) {
            // The next test says it: its start needs the server too.
        }
    }

    /** Ends the waiters that there may be at subscriptions to semaphores. Only the semaphores are deleted. */
    private void endWaiters(Collection<Leak> subscriptions) {
        if (subscriptions.isEmpty()) {
            return;
        }
        Waiters waiters = new Waiters(server, subscriptions);
        for (int i = 0; i < TRIES && waiters.wake(); i++) {
            pause(1L << i);
        }
        waiters.deleteSemaphores();
    }

    private void pause(long millis) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            try {
                TimeUnit.NANOSECONDS.sleep(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }
}
