package io.github.lockredis.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
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
    /** A pause that lasts longer at a test's end is left behind. */
    private static final Duration SHORT_PAUSE = Duration.ofSeconds(1);

    private final LockredisServer server;
    private final Baseline before;
    private final View view;
    private final Predicate<Leak> counted;
    private final Interrupts interrupts = new Interrupts();
    private boolean tasksAllowed;
    private DataKeys dataKeys = new DataKeys();
    private boolean ended; // end has looked, and told what it saw
    private LeakCheck latest = this; // the check that looked last for the test
    private final List<LeakCheck> more = new ArrayList<>(); // of the other servers of a topology

    private LeakCheck(LockredisServer server, Predicate<Leak> counted, Baseline before, History history) {
        this.server = server;
        this.counted = leak -> !dataKeys.matches(leak) && counted.test(leak);
        this.before = before;
        view = new View(server, this.counted, before, history);
    }

    /** Makes a check for what appears behind the last look of another check. */
    private LeakCheck(LeakCheck first) {
        server = first.server;
        counted = first.counted;
        before = new Baseline(first.view.seen(), server.known().blocked());
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
        Threads threads = Threads.now();
        History history = new History(present, threads);
        server.known().begin(present, threads);
        present.removeIf(leak -> deleted && !leak.owner().isEmpty());
        return new LeakCheck(server, counted, new Baseline(present, server.known().blocked()), history);
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
     * Lets threads that outlive the test acquire locks again and again: those of an application. Without this call
     * a thread that locks in a loop is a leak. Returns this check.
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
     * flush says so. A server with a {@link LockredisServer.Builder#snapshot} has that data then. A script that runs
     * ends then. A server that does not answer is killed and started again. It works on an interrupted thread too.
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
     * Prepares a server as {@link #prepare} does with a flush. Returns what each server of its topology had when its
     * data was deleted. Null in its place: the server has started again.
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
                server.noteOutage();
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
            server.noteOutage();
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
     * Returns the text about the leaks of the test, which ends now, or null without leaks. It ends a pause and faults.
     * A pause that the test began, with a second left or more, is a leak. What was not there when the test began is
     * one if it stays for a second: a lock that its holder does not release and whose lease does not end, a permit, a
     * waiter, a subscription. A lock that is acquired in this time has a second of its own. An owner that
     * has acquired a lock by half a second after the test, and acquires one later, locks in a loop: a leak, also if no
     * look finds it held. Threads that were at work when the test began, and those of a scheduler, may do so.
     *
     * <p>Without a leak the check looks on while a thread may acquire a lock: for five seconds while a thread that was
     * not at work when the test began is inside a method of a lock of Redisson or of Spring Integration, for a second
     * while one that has acquired a lock in the test is active, and for an eighth of a second if a client began in the
     * test to listen for the release of a lock or a permit that is free now.
     *
     * <p>It is null too if the server does not run, or does not answer as before. Call
     * {@link LockredisServer#unexpectedEnd} behind it: its text says so, and the next {@link #prepare}
     * starts the server again. What a thread that is still active holds is told once. It works on an interrupted
     * thread too.
     *
     * @param clean whether to end the leaks: to delete all data, and to wake the waiters for locks, also
     *     waiters that do not count. Without a leak the check wakes waiters that began to wait in the test and
     *     are no leak: a waiter of a lock without a key acquires it, which is a leak, and a waiter of a
     *     semaphore gets an error
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
        return each(check -> check.lookAgain(clean));
    }

    private String lookAgain(boolean clean) {
        if (!ended || !server.isRunning()) {
            return null;
        }
        LeakCheck again = new LeakCheck(latest);
        try {
            boolean clear = again.interrupts.hold(() -> again.view.leaks().values().stream().allMatch(view::wasAtWork));
            latest = again;
            return clear ? null : again.endOne(clean);
        } catch (LockredisException e) {
            return null; // the start of the next test says it
        }
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
        Baseline none = new Baseline(Collections.emptyList(), Collections.emptyMap());
        History history = new History(new ArrayList<>(), Threads.none());
        LeakCheck check = new LeakCheck(server, leak -> true, none, history).dataKeys(dataKeys);
        return check.interrupts.hold(() -> check.endLeaks(false));
    }

    /** Returns the text about locks, waiters and subscriptions, or null. */
    private String endLeaks(boolean clean) {
        LastLooks looks = new LastLooks(server, view, counted, interrupts, tasksAllowed);
        Collection<Leak> leaks = looks.await(clean);
        ended = true;
        Cleaning cleaning = new Cleaning(server, view, interrupts);
        if (leaks.isEmpty()) {
            if (clean) {
                cleaning.afterSuccess(Waiters.unshared(view.seen(), looks.idle(Waiters::isOfSemaphore)));
            }
            return null;
        }
        String text = text(leaks);
        server.known().addTold(leaks); // later tests are not to blame for a thread that goes on
        if (clean) {
            try {
                cleaning.afterFailure(leaks);
            } catch (LockredisException e) {
                // The next test says it: its start needs the server too.
            }
        }
        return text;
    }

    private String text(Collection<Leak> leaks) {
        return before.text(server.redissonAddress(), leaks, view::wasAtWork);
    }
}
