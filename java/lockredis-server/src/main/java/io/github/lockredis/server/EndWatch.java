package io.github.lockredis.server;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Tells the unexpected ends of a server to the tests that use it, also if they run at the same time. The
 * server tells an end once, and it cannot know which test has caused it. So each test that runs when the end
 * is noticed gets the text. An end that is noticed while no test runs is told by {@link #outside}. So is a leak
 * that appears when its test has ended.
 *
 * <p>The modules for JUnit and Spring use it, and so can an adapter for another test framework. All
 * methods may be called by several threads at once.
 */
public final class EndWatch {
    private static final String BESIDE = "\nOther tests ran on this server when its end was noticed. They"
            + " fail too, because any of them may have ended it";

    private final LockredisServer server;
    private final Map<Object, Set<String>> running = new IdentityHashMap<>(); // guarded by this; ends by test
    private final List<String> outside = new ArrayList<>(); // guarded by this
    private String last = "before the first test"; // guarded by this
    private boolean ended; // guarded by this; no test has begun since an end

    /** Makes a watch for a server, or for all of a topology whose first one it is. A server has one. */
    public EndWatch(LockredisServer server) {
        this.server = Objects.requireNonNull(server, "EndWatch(null): give the server that the tests use");
    }

    /**
     * Begins a test, unless it has begun. Call {@link LeakCheck#prepare} before it. An end that is noticed
     * now belongs to the tests that run already. After an end the server is started again, also for a test
     * that runs beside others.
     *
     * @param test any object that stands for the test. Its identity counts
     */
    public synchronized void begin(Object test) {
        Objects.requireNonNull(test, "begin(null): give an object that stands for the test");
        if (running.containsKey(test)) {
            return;
        }
        look();
        if (ended) {
            LeakCheck.prepare(server, false);
            ended = false;
        }
        if (running.isEmpty()) {
            for (LockredisServer each : server.group()) {
                each.remember();
            }
        }
        running.put(test, new HashSet<>());
    }

    /**
     * Ends a test, and its faults. What it has changed of directives, users of ACL and functions is as before, see
     * {@link LockredisServer#reset}. Returns the text about ends that were noticed while it ran, or null. A test that
     * has not begun is told of an end that is noticed now.
     *
     * @param name the test, for the text about an end behind it
     */
    public synchronized String end(Object test, String name) {
        Objects.requireNonNull(test, "end(null, …): give the object that begin was called with");
        Objects.requireNonNull(name, "end(…, null): give the name of the test");
        running.putIfAbsent(test, new HashSet<>());
        atLast(LockredisServer::endFaults); // they could hit the question of look
        look();
        atLast(LockredisServer::reset); // settings that the test has changed
        Set<String> ends = running.remove(test);
        last = "after the test " + name;
        return ends.isEmpty() ? null : String.join("\n", ends);
    }

    /**
     * Looks once more for leaks of the test that ended last. {@link #outside} tells them. Call it before other
     * code may acquire locks: that of the next test, or of the class.
     *
     * @param check the test's check, whose {@link LeakCheck#end} has returned
     * @param clean whether to end the leaks
     */
    public synchronized void lookAgain(LeakCheck check, boolean clean) {
        Objects.requireNonNull(check, "lookAgain(null, …): give the check of the test that has ended");
        String leaks = check.endAgain(clean);
        if (leaks != null) {
            outside.add(last + " had ended: " + leaks);
        }
    }

    /**
     * Begins a test on a server without data. Prepares the server, as {@link LeakCheck#prepare} does with a flush, and
     * returns a check for the test. The flush and the look before it are one step for the server: a lock is either
     * there then, and deleted, or it is acquired later, and the new test's.
     *
     * @param test as in {@link #begin}
     */
    public synchronized LeakCheck beginEmpty(Object test) {
        Objects.requireNonNull(test, "beginEmpty(null): give an object that stands for the test");
        List<Collection<Leak>> deleted = LeakCheck.empty(server);
        begin(test);
        return LeakCheck.begin(server, deleted);
    }

    /**
     * Returns the text about ends that were noticed while no test ran, and about leaks that {@link #lookAgain} has
     * found, or null. It asks the server. Each is told once, with the name of the test before it.
     */
    public synchronized String outside() {
        look();
        String text = outside.isEmpty() ? null : String.join("\n", outside);
        outside.clear();
        return text;
    }

    /** Does something with each server. Of tests that run side by side the last one does so. */
    private void atLast(Consumer<LockredisServer> action) {
        for (LockredisServer each : server.group()) {
            try {
                if (running.size() == 1 && each.isRunning()) {
                    action.accept(each);
                }
            } catch (LockredisException e) {
                // it has ended or hangs: the next look says so
            }
        }
    }

    /** Asks the server, and notes an end. */
    private void look() {
        String end = server.unexpectedEnd();
        if (end == null) {
            return;
        }
        ended = true;
        if (running.isEmpty()) {
            outside.add(last + ": " + end);
        }
        String text = running.size() > 1 ? end + BESIDE : end;
        running.values().forEach(ends -> ends.add(text));
    }
}
