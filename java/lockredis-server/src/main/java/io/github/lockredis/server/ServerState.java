package io.github.lockredis.server;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What a server and this JVM looked like when a test failed: who holds which lock and who waits, with the threads of
 * this JVM, and the end of the server's log. It is nothing that went wrong. It is an exception because what a failure
 * suppresses is shown beside the failure everywhere: by surefire, in Gradle's report, and in an IDE. A line of a log
 * is not: it stands elsewhere, or nowhere if no logger is set up. It has no stack trace of its own.
 */
public final class ServerState extends Exception {
    private static final long serialVersionUID = 1L;

    /** How long the server may take for each answer, in milliseconds. A server that hangs holds up no test. */
    private static final int TIMEOUT = 1000;

    /** How many locks, holders of a lock, waiters of a lock, and threads the text describes. */
    private static final int DESCRIBED = 20;

    private static final int FRAMES = 30;
    private static final int LOG_LINES = 10;

    /** The classes in whose methods a thread waits for a lock, a permit or a latch. */
    private static final Pattern WAITING = Pattern.compile(Owners.LOCK.pattern()
            + "|org\\.redisson\\.Redisson\\w*(Semaphore|CountDownLatch)");

    private ServerState(String text) {
        super(text, null, false, false);
    }

    /**
     * Adds the state of a server to a test's failure, as a suppressed exception. Call it as soon as the test has
     * failed: before the data is deleted, and before clients are closed. It takes about a second if the server does not
     * answer, and works on an interrupted thread too.
     *
     * @param failure what the test has thrown. Exceptions that only abort a test are the caller's to leave out
     */
    public static void addTo(Throwable failure, LockredisServer server) {
        Objects.requireNonNull(failure, "addTo(null, …): give what the test has thrown");
        Objects.requireNonNull(server, "addTo(…, null): give the server that the test uses");
        failure.addSuppressed(new ServerState(Interrupts.get(() -> new Description().of(server))));
    }

    /** Writes the text. */
    private static final class Description {
        private final StringBuilder text = new StringBuilder();
        private final Map<Long, ThreadInfo> threads = new HashMap<>(); // of this JVM, by id
        private final Set<Long> described = new HashSet<>(); // threads

        String of(LockredisServer server) {
            for (ThreadInfo info : ManagementFactory.getThreadMXBean().dumpAllThreads(false, false)) {
                threads.put(info.getThreadId(), info);
            }
            text.append(server.redissonAddress()).append(" when the test failed:");
            try {
                addLocks(server.locks("*", TIMEOUT));
            } catch (LockredisException e) {
                line(1, "its locks are unknown: " + e.getMessage());
            }
            addWaiting();
            List<String> log = server.log();
            List<String> end = log.subList(Math.max(0, log.size() - LOG_LINES), log.size());
            if (!end.isEmpty()) {
                line(1, "its log ends with:");
                end.forEach(last -> line(2, "| " + last));
            }
            return text.toString();
        }

        private void addLocks(List<Lock> locks) {
            if (locks.isEmpty()) {
                line(1, "no lock is held or waited for");
            }
            for (Lock lock : first(locks, 1, "locks")) {
                line(1, lock.head());
                for (Lock.Holder holder : first(lock.holders(), 2, "holders")) {
                    line(2, "held by " + holder);
                    addThread(Owners.threadOf(holder.owner()), 3);
                }
                for (Lock.Waiter waiter : first(lock.queue(), 2, "waiters")) {
                    line(2, (waiter.owner().isEmpty() ? "waited for by " : "queued ") + waiter);
                    addThread(Owners.threadOf(waiter.owner()), 3);
                }
            }
        }

        /** Adds the threads that wait, and that no owner has named: a plain lock tells only the client that waits. */
        private void addWaiting() {
            List<ThreadInfo> waiting = new ArrayList<>();
            for (ThreadInfo info : threads.values()) {
                if (Owners.hasFrame(info, WAITING) && !Owners.isOfTests(info) && !described.contains(info.getThreadId())) {
                    waiting.add(info);
                }
            }
            waiting.sort((a, b) -> Long.compare(a.getThreadId(), b.getThreadId()));
            if (!waiting.isEmpty()) {
                line(1, "inside a method of a lock, on any server:");
                first(waiting, 2, "threads").forEach(info -> addThread(info.getThreadId(), 2));
            }
        }

        /** Adds a thread of this JVM, if there is one with the id. The failure itself tells where the test's thread was. */
        private void addThread(long id, int indent) {
            ThreadInfo info = threads.get(id);
            if (info == null) {
                return;
            }
            boolean own = id == Thread.currentThread().getId();
            boolean again = !described.add(id);
            line(indent, "thread " + id + " \"" + info.getThreadName() + "\" of this JVM, "
                    + (own ? "which runs the test" : again ? "see above" : info.getThreadState().toString()));
            if (own || again) {
                return;
            }
            StackTraceElement[] frames = info.getStackTrace();
            for (int i = 0; i < Math.min(frames.length, FRAMES); i++) {
                line(indent + 1, "at " + plain(frames[i]));
            }
            if (frames.length > FRAMES) {
                line(indent + 1, "... " + (frames.length - FRAMES) + " more");
            }
        }

        /** Returns a frame without the names of its class loader and module, in the form that an IDE makes a link of. */
        private static String plain(StackTraceElement frame) {
            return frame.toString().replaceFirst("^[^(]*/", "");
        }

        /** Returns the first elements of a list. Says how many there are if it leaves some out. */
        private <T> List<T> first(List<T> all, int indent, String what) {
            if (all.size() <= DESCRIBED) {
                return all;
            }
            line(indent, "the first " + DESCRIBED + " of " + all.size() + " " + what + ":");
            return Collections.unmodifiableList(all.subList(0, DESCRIBED));
        }

        private void line(int indent, String line) {
            text.append('\n');
            for (int i = 0; i < indent; i++) {
                text.append("  ");
            }
            text.append(Text.printable(line));
        }
    }
}
