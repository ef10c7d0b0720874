package io.github.lockredis.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A fault that a method of {@link Faults} has set. It is in effect until {@link #close}, {@link Faults#clear}, or the
 * end of the test. An end of the server ends it too: what it holds back is lost then, and a restarted server has no
 * faults. All methods may be called by several threads at once.
 *
 * <pre>{@code
 * try (Fault lost = server.faults().loseReply(new Match().command("evalsha"))) {
 *     ...
 *     assertEquals(1, lost.hits());
 * }
 * }</pre>
 */
public final class Fault implements AutoCloseable {
    private static final Duration AWAIT = Duration.ofSeconds(10);
    private static final int PAUSE = 2; // between two looks, in milliseconds

    private final LockredisServer server;
    private final ServerProcess process; // that has the fault. Another one gives its faults the same ids
    private final long id;
    private final String kind;
    private final List<String> conditions;

    Fault(LockredisServer server, ServerProcess process, long id, String kind, List<String> conditions) {
        this.server = server;
        this.process = process;
        this.id = id;
        this.kind = kind;
        this.conditions = new ArrayList<>(conditions);
    }

    /** Returns the server's number for the fault, as FAULT.LIST has it. A restarted server counts from 1 again. */
    public long id() {
        return id;
    }

    /** Returns the kind as FAULT.ADD has it: lose-reply. */
    public String kind() {
        return kind;
    }

    /**
     * Returns how many requests or messages the fault has hit.
     *
     * @throws IllegalStateException if the fault has ended: the server has forgotten it
     * @throws LockredisException if the server does not run
     */
    public int hits() {
        Fields row = find();
        if (row == null) {
            throw new IllegalStateException("hits: " + this + " has ended");
        }
        return (int) row.number("hits");
    }

    /**
     * Waits until the fault has hit so many requests or messages: ten seconds at most.
     *
     * @throws AssertionError if it has hit fewer by then
     * @throws IllegalStateException if the fault has ended
     * @throws IllegalArgumentException if n is negative
     * @throws LockredisException if the thread is interrupted. It stays interrupted
     */
    public void awaitHits(int n) {
        awaitHits(n, AWAIT);
    }

    void awaitHits(int n, Duration time) {
        if (n < 0) {
            throw new IllegalArgumentException("awaitHits " + n + " is negative");
        }
        long end = System.nanoTime() + time.toNanos();
        for (int hits = hits(); hits < n; hits = hits()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError(this + " on " + server.redissonAddress() + " has hit " + hits + " of " + n
                        + " within " + time.toMillis() + " ms");
            }
            pause(n);
        }
    }

    /** Pauses between two looks. */
    private void pause(int n) {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LockredisException("awaitHits " + n + " of " + this + ": the thread is interrupted", e);
        }
    }

    /**
     * Returns how many requests, replies and messages the fault holds back now. 0: none, or the fault has ended.
     *
     * @throws LockredisException if the server does not run
     */
    public int held() {
        Fields row = find();
        return row == null ? 0 : (int) row.number("held");
    }

    /**
     * Lets go all that the fault holds back now. The fault stays in effect. Requests run in the order in which they
     * came, and soon: it does not wait for them.
     *
     * @return how many it has let go. 0: none, or the fault has ended
     * @throws LockredisException if the server does not run
     */
    public int release() {
        return release(Integer.MAX_VALUE);
    }

    /**
     * Lets go the first of what the fault holds back, as {@link #release()} does.
     *
     * @param most how many at most
     * @throws IllegalArgumentException if most is less than 1
     */
    public int release(int most) {
        if (most < 1) {
            throw new IllegalArgumentException("release " + most + " is less than 1");
        }
        if (isOfAnotherProcess()) {
            return 0;
        }
        try {
            return ((Long) server.kit("FAULT.RELEASE", Long.toString(id), Integer.toString(most))).intValue();
        } catch (LockredisException e) {
            if (e.getCause() instanceof Connection.ErrorReply && e.getCause().getMessage().startsWith("ERR no fault")) {
                return 0;
            }
            throw e;
        }
    }

    /**
     * Ends the fault, and lets go what it holds back. Does nothing if the fault has ended, or the server does not run.
     * A connection that {@link Faults#mute} has muted stays mute.
     */
    @Override
    public void close() {
        if (isOfAnotherProcess() || !process.isServing()) {
            return;
        }
        try {
            server.kit("FAULT.REMOVE", Long.toString(id));
        } catch (LockredisException e) {
            if (process.isServing()) { // else it has ended just now
                throw e;
            }
        }
    }

    private boolean isOfAnotherProcess() {
        return server.processes().server() != process;
    }

    /** Returns the row of FAULT.LIST. Null: the fault has ended. */
    private Fields find() {
        if (isOfAnotherProcess()) {
            return null;
        }
        for (Fields row : Fields.list(server.kit("FAULT.LIST"))) {
            if (row.number("id") == id) {
                return row;
            }
        }
        return null;
    }

    /** Returns the kind and the conditions, as FAULT.ADD has them. */
    @Override
    public String toString() {
        return "fault " + id + " " + kind + (conditions.isEmpty() ? "" : " " + Text.printable(String.join(" ", conditions)));
    }
}
