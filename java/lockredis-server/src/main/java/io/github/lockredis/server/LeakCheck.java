package io.github.lockredis.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Finds what one test leaves behind on a server. What was there before the test does not count: the
 * subscriptions of a client that the class shares. A check of a topology's first server looks at all of its
 * servers, and what prepares that server prepares all.
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
    private LeakCheck latest = this; // the check that looked last for the test
    private long newest; // the newest thread's id before other code ran
    private final List<LeakCheck> more = new ArrayList<>(); // of the other servers of a topology
    private final Set<Object> unjudged = new HashSet<>(); // seen by the last look, and too young to be leaks

    private LeakCheck(LockredisServer server, Predicate<Leak> counted, Baseline before, History history, int number) {
        this.server = server;
        outages = server.outages();
        this.counted = leak -> !dataKeys.matches(leak) && counted.test(leak);
        this.before = before;
        view = new View(server, this.counted, before, history, number);
    }

    /** Makes a check for what appears behind the last look of another check. */
    private LeakCheck(LeakCheck first, Predicate<Leak> counted) {
        server = first.server;
        outages = server.outages();
        this.counted = counted;
        List<Leak> seen = new ArrayList<>(first.view.seen());
        seen.removeIf(leak -> first.unjudged.contains(Baseline.key(leak)));
        before = new Baseline(seen, server.told().blocked());
        view = first.view.since(before, counted);
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
        return begin(server, counted, Collections.nCopies(server.group().size(), null));
    }

    /**
     * Returns a check for a test that begins now on a server without data.
     *
     * @param deleted what {@link #empty} has returned
     */
    static LeakCheck begin(LockredisServer server, List<Collection<Leak>> deleted) {
        return begin(server, leak -> true, deleted);
    }

    private static LeakCheck begin(LockredisServer server, Predicate<Leak> counted, List<Collection<Leak>> deleted) {
        LeakCheck first = null;
        for (int i = 0; i < deleted.size(); i++) {
            LockredisServer each = server.group().get(i);
            LeakCheck check = deleted.get(i) == null ? begin(each, counted, present(each), false)
                    : begin(each, counted, new ArrayList<>(deleted.get(i)), true);
            if (first == null) {
                first = check;
            } else {
                first.more.add(check);
            }
        }
        return first;
    }

    /** Calls a method of the check of each server. Returns the texts together, null without any. */
    private String each(Function<LeakCheck, String> call) {
        String text = call.apply(this);
        for (LeakCheck check : more) {
            String other = call.apply(check);
            text = text == null ? other : other == null ? text : text + "\n" + other;
        }
        return text;
    }

    private static LeakCheck begin(LockredisServer server, Predicate<Leak> counted, Collection<Leak> present,
            boolean deleted) {
        server.told().forgetIdle();
        History history = new History(present, Threads.now());
        int number = server.told().begin(present);
        present.removeIf(leak -> deleted && !leak.owner().isEmpty());
        return new LeakCheck(server, counted, new Baseline(present, server.told().blocked()), history, number);
    }

    /**
     * Returns the leaks before a test, and the subscriptions of no waiter: the test may take their locks. A
     * server that does not run has none: a test begins with an outage.
     */
    private static Collection<Leak> present(LockredisServer server) {
        try {
            return server.isRunning() ? server.allLeaks() : new ArrayList<>();
        } catch (LockredisException e) {
            if (server.isRunning()) {
                throw e;
            }
            return new ArrayList<>(); // it has ended just now
        }
    }

    /**
     * Lets threads that outlive the test acquire locks again and again: an application's scheduled tasks.
     * Without this call a lock is a leak if it is held at the test's end, released, and acquired again.
     * Returns this check.
     */
    public LeakCheck allowTasks() {
        tasksAllowed = true;
        more.forEach(LeakCheck::allowTasks);
        return this;
    }

    /**
     * Makes keys data if their names match one of the patterns, as in KEYS: {@code *}, {@code ?}, {@code [a-z]},
     * {@code \\}. They are no leaks, though a script or SET with NX wrote them. Returns this check.
     */
    public LeakCheck dataKeys(String... patterns) {
        LockredisServer.requireTexts("dataKeys", "give patterns of keys", patterns);
        dataKeys = new DataKeys(patterns);
        more.forEach(check -> check.dataKeys(patterns));
        return this;
    }

    /**
     * Prepares a server for the next test. It starts a stopped server, ends a pause and faults, and deletes all data if
     * flush says so. A server with a {@link LockredisServer.Builder#snapshot} has that data then. A script that runs ends
     * then. A server that does not answer is killed and started again. It works on an interrupted thread too.
     *
     * <p>Call {@link LockredisServer#unexpectedEnd} behind it: an end between two tests, and a server
     * that had to be killed, are not the next test's own.
     *
     * @throws LockredisException if the server is closed or does not start
     */
    public static void prepare(LockredisServer server, boolean flush) {
        Objects.requireNonNull(server, "prepare(null, …): give the server that the next test uses");
        Interrupts.run(() -> prepareAll(server, flush));
    }

    /**
     * Prepares a server as {@link #prepare} does with a flush. Returns what each server of its topology had when its data
     * was deleted. Null in its place: the server has started again.
     */
    static List<Collection<Leak>> empty(LockredisServer server) {
        return Interrupts.get(() -> prepareAll(server, true));
    }

    private static List<Collection<Leak>> prepareAll(LockredisServer server, boolean flush) {
        List<Collection<Leak>> deleted = new ArrayList<>();
        for (LockredisServer each : server.group()) {
            deleted.add(prepareRunning(each, flush));
        }
        return deleted;
    }

    private static Collection<Leak> prepareRunning(LockredisServer server, boolean flush) {
        if (!server.isAttached()) {
            if (server.processes().replaceBroken()) {
                return null;
            }
            if (server.processes().end() || !server.isRunning()) {
                server.restart();
                return null;
            }
        }
        try {
            endPause(server);
            server.endFaults();
            if (flush) {
                return server.flushAndLook();
            }
        } catch (LockredisException e) {
            if (server.isAttached() || server.isClosed()) {
                throw e;
            }
            server.processes().replace(server.isRunning() ? e.getMessage() : null);
        }
        return null;
    }

    /** Ends a pause. That of all clients holds up this class, too, on an attached Redis. */
    private static void endPause(LockredisServer server) {
        if (!server.pause().left().isZero()) {
            server.unpauseClients();
        }
    }

    /**
     * Returns the text about the leaks of the test, which ends now, or null without leaks. A pause
     * that the test began, with a second left or more, is a leak. It ends a pause and faults. It waits
     * a moment for leaks to disappear. A lock that only expires in this time is a leak: its holder
     * has not released it. A lock that is acquired in this time is one if it stays for half a second:
     * a scheduled task of the application may hold a lock just now. It is none if its owner is a thread that
     * an earlier check has seen: the next turn of a task. If a lock was released in this time,
     * the check looks for another tenth of a second whether its owner acquires one again. If the owner does
     * so between two looks, the age of its hold shows it. A lock that an owner has acquired twice since the test
     * ended is a leak, also if no look finds it held: a thread locks in a loop.
     *
     * <p>Without a leak the check looks on while a thread may acquire a lock: for a second while one that has
     * acquired a lock in the test is active, or one runs that did not when the test began, for five while one is inside
     * a method of a lock of Redisson or of Spring Integration, and for an eighth of a second if a client began in the
     * test to listen for the release of a lock or a permit that is free now. A thread that was at work when the test
     * began, and a thread of a scheduler that had one then, may lock again and again.
     *
     * <p>It is null too if the server does not run, or does not answer as before. Call
     * {@link LockredisServer#unexpectedEnd} behind it: its text says so, and the next {@link #prepare}
     * starts the server again. What a thread that works on holds is told once. It works on an interrupted
     * thread too.
     *
     * @param clean whether to end the leaks: to delete all data, and to wake the waiters for locks, also
     *     waiters that do not count. Without a leak the check
     *     wakes waiters that began to wait in the test and are no leak: a waiter of a lock without a key
     *     acquires it, which is a leak, and a waiter of a semaphore gets an error
     */
    public String end(boolean clean) {
        return each(check -> check.endOne(clean));
    }

    private String endOne(boolean clean) {
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
            server.told().addWaiting(hadOutage() ? Threads.now().locking() : locking);
            newest = Owners.newest();
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
        return each(check -> {
            try {
                return check.lookAgain(check.counted, clean);
            } finally {
                check.newest = Owners.newest();
            }
        });
    }

    /**
     * Looks as endAgain does, after other code has run. What may be that code's does not count: subscriptions, and locks
     * of threads that are younger than the last look.
     */
    String endLocksAgain() {
        return each(check -> check.lookAgain(check::isOfOlderThread, true));
    }

    private String lookAgain(Predicate<Leak> counted, boolean clean) {
        if (!ended || !server.isRunning()) {
            return null;
        }
        LeakCheck again = new LeakCheck(latest, counted);
        try {
            boolean clear = again.interrupts.hold(() -> again.late(again.view.leaks()).isEmpty());
            latest = again;
            return clear ? null : again.endOne(clean);
        } catch (LockredisException e) {
            return null; // the start of the next test says it
        }
    }

    /** Returns the leaks without those of threads that were at work before the test. */
    private Collection<Leak> late(Map<Object, Leak> leaks) {
        leaks.values().removeIf(view::wasAtWork);
        return leaks.values();
    }

    private boolean isOfOlderThread(Leak leak) {
        return !leak.owner().isEmpty() && Owners.threadOf(leak.owner()) <= newest && counted.test(leak);
    }

    /**
     * Returns the text about locks that appeared behind the last look, as endLocksAgain does, or null. They are deleted,
     * so it does not wait for their release.
     *
     * @param deleted what {@link #empty} has returned
     */
    String endDeleted(List<Collection<Leak>> deleted) {
        Iterator<Collection<Leak>> of = deleted.iterator();
        return each(check -> {
            Collection<Leak> its = of.next();
            return its == null ? null : check.endDeletedOne(new ArrayList<>(its)); // rows of the history are taken out
        });
    }

    private String endDeletedOne(Collection<Leak> deleted) {
        LeakCheck again = new LeakCheck(latest, this::isOfOlderThread);
        again.view.look(() -> deleted);
        Collection<Leak> leaks = again.late(again.view.addedLeaks());
        if (!ended || leaks.isEmpty()) {
            return null;
        }
        server.told().addBusy(leaks);
        return again.before.text(server.redissonAddress(), leaks);
    }

    private String endRunning(boolean clean) {
        Duration pause = server.pause().left();
        endPause(server);
        server.endFaults(); // they would lose the messages that wake waiters
        String leaks = endLeaks(clean);
        if (pause.compareTo(SHORT_PAUSE) < 0) {
            return leaks;
        }
        return "a pause was left on " + server.redissonAddress() + " for another " + pause.toMillis()
                + " ms. unpauseClients() ends it" + (leaks == null ? "" : "\n" + leaks);
    }

    /** Returns the text about locks, waiters and subscriptions that are there now, or null. */
    static String leaks(LockredisServer server, String... dataKeys) {
        int number = server.told().begin(Collections.emptyList());
        Baseline none = new Baseline(Collections.emptyList(), Collections.emptyMap());
        History history = new History(new ArrayList<>(), Threads.none());
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
        long begin = 0;
        Waiters waiters = new Waiters(server);
        for (long pause = 1;; pause = Math.min(2 * pause, PAUSE)) {
            Threads threads = Threads.now(); // before the look: it finds what a thread that has gone on has acquired
            Map<Object, Leak> leaks = view.leaks();
            begin = pause == 1 ? view.answeredAt() : begin;
            long passed = millisSince(begin); // before patience, which takes long on a slow machine
            if (!leaks.isEmpty()) {
                locking = Collections.emptySet(); // the failure tells them
                return leaks;
            }
            if (passed >= patience(threads)) {
                return leaks;
            }
            if (clean && waiters.set(idle(Waiters::isOfLock)) && !waiters.isEmpty()) {
                waiters.wake(false, false); // the key of a waiter's lock may have been deleted
            }
            interrupts.pause(pause);
        }
    }

    /** Returns how many milliseconds after the test a thread may still acquire a lock. */
    private long patience(Threads threads) {
        if (!loops().isEmpty()) {
            return 0;
        }
        locking = server.told().withoutWaiting(view.locking(threads));
        if (!locking.isEmpty()) {
            return LOCKING;
        }
        if (mayLoop() || view.haveStarted(threads)) {
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
            if (rest <= 0 && since.values().stream().noneMatch(this::isLookTooOld)) {
                left.entrySet().removeIf(leak -> isUnjudged(leak.getValue(), since.get(leak.getKey())));
                break;
            }
            long before = view.lookedAt();
            long answered = view.answeredAt();
            Map<Object, Leak> earlier = left;
            interrupts.pause(Math.max(0, left.size() > MANY ? rest : Math.min(pause, rest)));
            left = view.leaks();
            left.values().removeIf(leak -> view.isNextTurn(leak, begin));
            owned.addAll(owned(left.values()));
            if (!tasksAllowed) {
                addNewHolds(earlier, left, Duration.ofNanos(view.lookedAt() - answered), again);
            }
            moveExpired(last, left, Duration.ofNanos(System.nanoTime() - before), expired);
            if (left.isEmpty() && again.isEmpty() && expired.isEmpty()) {
                left = tasksAllowed ? lookOn(clean, begin) : acquiredAgain(owned, begin, again);
                start = tasksAllowed ? System.nanoTime() : start;
                pause = 1;
            }
        }
        Map<Object, Leak> leaks = new LinkedHashMap<>(expired);
        again.forEach(leaks::putIfAbsent);
        again.values().forEach(server.told()::addLoop);
        left.forEach((key, leak) -> leaks.put(key, first.getOrDefault(key, leak)));
        for (Leak loop : loops()) {
            server.told().addLoop(loop);
            if (leaks.values().stream().noneMatch(leak -> isSameHold(leak, loop))) {
                leaks.put(loop, loop);
            }
        }
        return leaks.values();
    }

    /**
     * Looks on as firstLook does, when a task of the application has released its lock. A thread of the test may acquire
     * one.
     *
     * @param begin when the check began
     */
    private Map<Object, Leak> lookOn(boolean clean, long begin) {
        return millisSince(begin) < GRACE && view.haveStarted(Threads.now()) ? firstLook(clean) : Collections.emptyMap();
    }

    private static boolean isSameHold(Leak leak, Leak other) {
        return leak.owner().equals(other.owner()) && leak.name().equals(other.name())
                && leak.database() == other.database();
    }

    /**
     * Reports whether the last look began too early to judge a leak that a look saw first at a time. A machine that
     * stalls makes a look take long: then another one is due, also when the time is over.
     */
    private boolean isLookTooOld(long since) {
        return view.lookedAt() - since < STAYED.toNanos() && System.nanoTime() - since >= STAYED.toNanos();
    }

    /**
     * Reports whether a lock that is held when the time is over was acquired a moment ago. Then the next look judges it.
     */
    private boolean isUnjudged(Leak leak, long since) {
        Duration seen = Duration.ofNanos(view.lookedAt() - since);
        Duration held = tasksAllowed || view.isOfTask(leak) ? leak.heldFor().orElse(seen) : seen;
        return held.compareTo(STAYED) < 0 && unjudged.add(Baseline.key(leak));
    }

    /**
     * Adds the locks that an owner holds at two looks, and has released and acquired between them: the second
     * hold is too young. Its thread locks in a loop, as {@link #acquiredAgain} finds it between two holds. A writer
     * that now reads has released its older hold only. The age of a multi-lock is that of the oldest value, which
     * may have been released alone.
     *
     * @param passed the least time between the looks
     */
    private void addNewHolds(Map<Object, Leak> earlier, Map<Object, Leak> now, Duration passed,
            Map<Object, Leak> again) {
        now.forEach((key, leak) -> {
            Leak before = earlier.get(key);
            if (before != null && leak.type().equals("lock") && leak.heldFor().isPresent()
                    && leak.kind().equals(before.kind()) && !leak.kind().equals("multi") && !view.isOfTask(leak)) {
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
     * Looks on when all locks were released. Returns the leaks of the first look that finds some, empty if there are
     * none soon. Those of an owner that has held a lock before are added to again: its thread locks in a loop. A task
     * that ran before the test is no such owner.
     *
     * @param owned what {@link #owned} returned of the locks before
     * @param begin when the check began
     */
    private Map<Object, Leak> acquiredAgain(Set<Object> owned, long begin, Map<Object, Leak> again) {
        long start = System.nanoTime();
        while (loops().isEmpty() && (millisSince(start) < WATCH || millisSince(begin) < GRACE && mayLoop())) {
            interrupts.pause(WATCH_PAUSE);
            Map<Object, Leak> leaks = view.leaks();
            leaks.values().removeIf(view::isOfTask);
            leaks.forEach((key, leak) -> {
                if (!Collections.disjoint(owned(Collections.singleton(leak)), owned)) {
                    again.put(key, leak);
                }
            });
            if (!leaks.isEmpty()) {
                return leaks;
            }
        }
        return Collections.emptyMap();
    }

    /**
     * Returns the owners of locks: a thread may lock by another name next. A permit has a new owner each time, and so
     * has a lock that SET made: of these it returns the names, too. The database is the first part of a name's list.
     */
    private static Set<Object> owned(Collection<Leak> leaks) {
        Set<Object> owned = new HashSet<>();
        for (Leak leak : leaks) {
            if (Owners.isThread(leak.owner())) {
                owned.add(Owners.withThread(leak.owner(), Owners.threadOf(leak.owner()))); // without a transaction
            } else if (!leak.owner().isEmpty()) {
                owned.add(leak.owner());
                owned.add(Arrays.asList(leak.database(), leak.name()));
            }
        }
        return owned;
    }
}
