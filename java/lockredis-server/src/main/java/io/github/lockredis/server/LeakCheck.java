package io.github.lockredis.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Finds what one test leaves behind on a server. What was there before the test does not count: the
 * subscriptions of a client that the class shares.
 *
 * <p>The modules for JUnit and Spring use it, and so can an adapter for another test framework. One
 * thread at a time may call it.
 */
public final class LeakCheck {
    /**
     * How long leaks have to disappear, in milliseconds. Redisson unsubscribes after lock() has returned. A
     * thread that may acquire a lock has as long.
     */
    private static final long GRACE = 1000;

    /** A lock that is acquired in that time is a leak if it then has been held for so long. */
    private static final Duration STAYED = Duration.ofMillis(GRACE / 2);

    /** The longest pause between two looks, in milliseconds. */
    private static final long PAUSE = 64;

    /** So many leaks that a look takes long. Then the check looks again only once. */
    private static final int MANY = 1000;

    /** A pause that lasts longer at a test's end is left behind. */
    private static final Duration SHORT_PAUSE = Duration.ofSeconds(1);

    /** How long a thread that is inside the method of a lock has to acquire it: a cold, busy JVM takes long. */
    private static final long LOCKING = 5000;

    /** How long a waiter has to acquire what was released at the test's end, if no thread is seen that waits. */
    private static final long HAND_OVER = 125;

    /** How long the check looks whether a lock that was released is acquired again. */
    private static final long WATCH = 100;

    /** What the ages of one hold at two looks may differ by: the server counts in milliseconds. */
    private static final Duration ROUNDING = Duration.ofMillis(2);

    /** The pause between two such looks, in milliseconds. */
    private static final long WATCH_PAUSE = 10;

    private final LockredisServer server;
    private final Baseline before;
    private final View view;
    private final int outages; // of the server, when the test began
    private final Predicate<Leak> counted;
    private final Interrupts interrupts = new Interrupts();
    private boolean tasksAllowed;
    private Set<Long> locking = Collections.emptySet(); // threads inside a lock's method that have shown no leak
    private DataKeys dataKeys = new DataKeys();
    private boolean ended; // end has looked, and told what it saw

    private LeakCheck(LockredisServer server, Predicate<Leak> counted, Baseline before, History history, int number) {
        this.server = server;
        outages = server.outages();
        this.counted = leak -> !dataKeys.matches(leak) && counted.test(leak);
        this.before = before;
        view = new View(server, this.counted, before, history, number);
    }

    /** Makes a check for what appears behind a check that has ended. */
    private LeakCheck(LeakCheck first) {
        server = first.server;
        outages = server.outages();
        counted = first.counted; // with its dataKeys
        before = new Baseline(first.view.seen(), server.told().blocked());
        view = first.view.since(before);
        tasksAllowed = first.tasksAllowed;
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
        Collection<Leak> present = present(server);
        History history = new History(present);
        int number = server.told().begin(present);
        return new LeakCheck(server, counted, new Baseline(present, server.told().blocked()), history, number);
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
     * Makes keys data if their names match one of the patterns, as in KEYS: {@code *}, {@code ?}, {@code [a-z]},
     * {@code \\}. They are no leaks, though a script or SET with NX wrote them. Returns this check.
     */
    public LeakCheck dataKeys(String... patterns) {
        LockredisServer.requireTexts("dataKeys", "give patterns of keys", patterns);
        dataKeys = new DataKeys(patterns);
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
     * a scheduled task of the application may hold a lock just now. It is none if its owner is a thread that
     * an earlier check has seen: the next turn of a task. If a lock was released in this time,
     * the check looks for another tenth of a second whether its owner acquires one again. If the owner does
     * so between two looks, the age of its hold shows it. A lock that an owner has acquired twice since the test
     * ended is a leak, also if no look finds it held: a thread locks in a loop.
     *
     * <p>Without a leak the check looks on while a thread may acquire a lock: for a second while one that has
     * acquired a lock in the test is active, for five while one is inside a method of a lock of Redisson or of
     * Spring Integration, and for an eighth of a second if a client began in the test to listen for the release of a
     * lock or a permit that is free now.
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
        try {
            return server.isRunning() ? interrupts.hold(() -> endRunning(clean)) : null;
        } catch (LockredisException e) {
            if (server.isAttached()) {
                throw e;
            }
            if (server.isRunning()) { // else it has ended just now
                server.processes().setBroken(e.getMessage());
            }
            return null;
        } finally {
            // An outage hides waiters: they may connect again in a later test.
            server.told().addWaiting(hadOutage() ? Owners.locking() : locking);
        }
    }

    /**
     * Looks once more after {@link #end}, for a command that was under way when the test returned: lockAsync, or a
     * lock in another thread. Returns the text about leaks that end has not told, or null. Without a new one it
     * takes one round trip, else it waits as end does. Call it before other code acquires locks, and before
     * {@link #prepare}. {@link EndWatch#lookAgain} does so, and keeps the text.
     *
     * @param clean whether to end the leaks, as with end
     */
    public String endAgain(boolean clean) {
        if (!ended || !server.isRunning() || server.pause().holdsAll()) {
            return null;
        }
        ended = false; // each leak is told once
        LeakCheck again = new LeakCheck(this);
        try {
            return again.interrupts.hold(() -> again.view.leaks().isEmpty()) ? null : again.end(clean);
        } catch (LockredisException e) {
            return null; // the start of the next test says it
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
    static String leaks(LockredisServer server, String... dataKeys) {
        int number = server.told().begin(Collections.emptyList());
        Baseline none = new Baseline(Collections.emptyList(), Collections.emptyMap());
        History history = new History(new ArrayList<>());
        LeakCheck check = new LeakCheck(server, leak -> true, none, history, number).dataKeys(dataKeys);
        return check.interrupts.hold(() -> check.endLeaks(false));
    }

    /** Returns the text about locks, waiters and subscriptions, or null. */
    private String endLeaks(boolean clean) {
        server.told().forgetIdle();
        Collection<Leak> leaks = await(clean);
        ended = true;
        Cleaning cleaning = new Cleaning(server, view, interrupts, tasksAllowed);
        if (leaks.isEmpty()) {
            if (clean) {
                cleaning.afterSuccess(Waiters.unshared(view.seen(), idle(Waiters::isOfSemaphore)));
            }
            return null;
        }
        String text = before.text(server.redissonAddress(), leaks);
        if (!tasksAllowed) { // later tests are not to blame for a thread that runs on
            server.told().addBusy(leaks);
        }
        if (clean) {
            try {
                cleaning.afterFailure(leaks);
            } catch (LockredisException e) {
                // The next test says it: its start needs the server too.
            }
        }
        return text;
    }

    /**
     * Returns the leaks of the first look that finds some. Without leaks it looks again while a thread may
     * acquire a lock: a waiter may have been told a moment ago that it can.
     */
    private Map<Object, Leak> firstLook(boolean clean) {
        Map<Object, Leak> leaks = view.leaks();
        long begin = view.answeredAt();
        Waiters waiters = new Waiters(server);
        for (long pause = 1; leaks.isEmpty(); pause = Math.min(2 * pause, PAUSE)) {
            long passed = millisSince(begin); // before patience, which takes long on a slow machine
            if (passed >= patience()) {
                break;
            }
            if (clean && waiters.set(idle(Waiters::isOfLock)) && !waiters.isEmpty()) {
                waiters.wake(false, false); // the key of a waiter's lock may have been deleted
            }
            interrupts.pause(pause);
            leaks = view.leaks();
        }
        if (leaks.isEmpty() && mayWait()) { // a thread may just have acquired a lock, and left the lock's method
            leaks = view.leaks();
        }
        if (!leaks.isEmpty()) {
            locking = Collections.emptySet(); // the failure tells them
        }
        return leaks;
    }

    /** Reports whether a thread may wait for a lock. A test without locks has no waiter. */
    private boolean mayWait() {
        return !view.idle().isEmpty() || hadOutage() || view.hasAcquired() || Owners.HAS_REGISTRY;
    }

    /** Returns how many milliseconds after the test a thread may still acquire a lock. */
    private long patience() {
        if (!loops().isEmpty()) {
            return 0;
        }
        locking = mayWait() ? server.told().withoutWaiting(Owners.locking()) : Collections.emptySet();
        if (!locking.isEmpty()) {
            return LOCKING;
        }
        if (mayLoop()) {
            return GRACE;
        }
        return view.idle().isEmpty() ? 0 : HAND_OVER;
    }

    private static long millisSince(long nanoTime) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanoTime);
    }

    /** Reports whether the test broke all connections: waiters of it may be about to connect again. */
    private boolean hadOutage() {
        return outages != server.outages();
    }

    /** Reports whether a thread of the test may lock in a loop. */
    private boolean mayLoop() {
        return !tasksAllowed && view.mayLoop();
    }

    /** Returns the locks that threads of the test acquire in a loop, as the history shows them. */
    private Collection<Leak> loops() {
        return tasksAllowed ? Collections.emptyList() : view.loops();
    }

    /** Returns the subscriptions without a leak that are wanted, and that the check counts. */
    private Collection<Leak> idle(Predicate<Leak> wanted) {
        Collection<Leak> idle = new ArrayList<>(view.idle());
        idle.removeIf(leak -> !wanted.test(leak) || !counted.test(leak));
        return idle;
    }

    /** Returns the leaks, after the time that they have to disappear if there are any. */
    private Collection<Leak> await(boolean clean) {
        long begin = System.nanoTime();
        Map<Object, Leak> left = firstLook(clean);
        Map<Object, Leak> first = new LinkedHashMap<>(left);
        Map<Object, Leak> last = new HashMap<>(left); // those of the first look, as the last one saw them
        Map<Object, Leak> expired = new LinkedHashMap<>();
        Map<Object, Leak> again = new LinkedHashMap<>(); // what its owner has released and acquired
        Map<Object, Long> since = new HashMap<>(); // the time of the look that saw a leak first
        Set<Object> owned = new HashSet<>(owned(left.values()));
        long start = System.nanoTime();
        for (long pause = 1; !left.isEmpty(); pause = Math.min(2 * pause, PAUSE)) {
            left.keySet().forEach(key -> since.putIfAbsent(key, view.lookedAt()));
            long rest = GRACE - millisSince(start);
            if (rest <= 0) {
                left.entrySet().removeIf(leak -> !hasStayed(leak.getValue(), since.get(leak.getKey())));
                break;
            }
            long before = view.lookedAt();
            long answered = view.answeredAt();
            Map<Object, Leak> earlier = left;
            interrupts.pause(left.size() > MANY ? rest : Math.min(pause, rest));
            left = view.leaks();
            left.values().removeIf(leak -> view.isNextTurn(leak, begin));
            owned.addAll(owned(left.values()));
            if (!tasksAllowed) {
                addNewHolds(earlier, left, Duration.ofNanos(view.lookedAt() - answered), again);
            }
            moveExpired(last, left, Duration.ofNanos(System.nanoTime() - before), expired);
        }
        Map<Object, Leak> leaks = new LinkedHashMap<>(expired);
        again.forEach(leaks::putIfAbsent);
        again.values().forEach(server.told()::addLoop);
        left.forEach((key, leak) -> leaks.put(key, first.getOrDefault(key, leak)));
        if (leaks.isEmpty() && !tasksAllowed) {
            return acquiredAgain(owned, begin);
        }
        for (Leak loop : loops()) {
            server.told().addLoop(loop);
            if (leaks.values().stream().noneMatch(leak -> isSameHold(leak, loop))) {
                leaks.put(loop, loop);
            }
        }
        return leaks.values();
    }

    private static boolean isSameHold(Leak leak, Leak other) {
        return leak.owner().equals(other.owner()) && leak.name().equals(other.name())
                && leak.database() == other.database();
    }

    /** Reports whether a lock that is held when the time is over was not acquired a moment ago. */
    private boolean hasStayed(Leak leak, long since) {
        Duration seen = Duration.ofNanos(view.lookedAt() - since);
        Duration held = tasksAllowed ? leak.heldFor().orElse(seen) : seen;
        return held.compareTo(STAYED) >= 0;
    }

    /**
     * Adds the locks that an owner holds at two looks, and has released and acquired between them: the second
     * hold is too young. Its thread locks in a loop, as {@link #acquiredAgain} finds it between two holds. A writer
     * that now reads has released its older hold only. The age of a multi-lock is that of the oldest value, which
     * may have been released alone.
     *
     * @param passed the least time between the looks
     */
    private static void addNewHolds(Map<Object, Leak> earlier, Map<Object, Leak> now, Duration passed,
            Map<Object, Leak> again) {
        now.forEach((key, leak) -> {
            Leak before = earlier.get(key);
            if (before != null && leak.type().equals("lock") && leak.heldFor().isPresent()
                    && leak.kind().equals(before.kind()) && !leak.kind().equals("multi")) {
                Duration age = before.heldFor().orElse(Duration.ZERO).plus(passed).minus(ROUNDING);
                if (leak.heldFor().get().compareTo(age) < 0) {
                    again.putIfAbsent(key, leak);
                }
            }
        });
    }

    /**
     * Brings locks up to date that were held when the test ended. One that has disappeared moves to expired
     * if it may have expired, else its holder has released it.
     *
     * @param passed the time since a look saw the held locks
     */
    private static void moveExpired(Map<Object, Leak> held, Map<Object, Leak> now, Duration passed,
            Map<Object, Leak> expired) {
        held.entrySet().removeIf(leak -> {
            Leak still = now.get(leak.getKey());
            if (still == null) {
                leak.getValue().ttl().filter(ttl -> ttl.compareTo(passed) <= 0)
                        .ifPresent(ttl -> expired.put(leak.getKey(), leak.getValue()));
                return true;
            }
            leak.setValue(still);
            return false;
        });
    }

    /**
     * Returns a lock that is acquired after all locks were released: a thread of the test still runs, and
     * locks in a loop. A task that earlier tests have seen is none. Empty if there is none soon.
     *
     * @param owned what {@link #owned} returned of the locks before
     * @param begin when the check began
     */
    private Collection<Leak> acquiredAgain(Set<Object> owned, long begin) {
        long start = System.nanoTime();
        Collection<Leak> loops = loops();
        for (; loops.isEmpty(); loops = loops()) {
            boolean watch = !owned.isEmpty() && millisSince(start) < WATCH;
            if (!watch && (millisSince(begin) >= GRACE || !mayLoop())) {
                return Collections.emptyList();
            }
            interrupts.pause(WATCH_PAUSE);
            for (Leak leak : view.leaks().values()) {
                if (!Collections.disjoint(owned(Collections.singleton(leak)), owned)
                        && !view.isOfTask(leak)) {
                    server.told().addLoop(leak);
                    return Collections.singleton(leak);
                }
            }
        }
        loops.forEach(server.told()::addLoop);
        return loops;
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
}
