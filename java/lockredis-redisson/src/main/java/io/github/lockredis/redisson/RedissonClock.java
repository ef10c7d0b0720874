package io.github.lockredis.redisson;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

import org.redisson.api.RedissonClient;

import io.github.lockredis.server.Lock;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Turn;
import io.netty.channel.EventLoopGroup;
import io.netty.util.HashedWheelTimer;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;

/**
 * Turns the clock of a server, or of a topology, and the timers of Redisson together. A watchdog renews its locks as it would if the test
 * slept:
 *
 * <pre>{@code
 * try (RedissonClock clock = RedissonClock.join(server, redisson)) {
 *     redisson.getLock("orders:42").lock();
 *     clock.advance(Duration.ofMinutes(5));
 *     assertTrue(redisson.getLock("orders:42").isLocked());
 * }
 * }</pre>
 *
 * <p>The timers that follow are watchdogs, the eviction of RMapCache and RSetCache (not in 3.16 and 3.17, which use no
 * timer for it), the timeouts of transactions, and the delays of Redisson's services. Those that were set before
 * {@link #join} follow, too. Timeouts, retries and pings of connections and commands keep real time: a turn fails no
 * command.
 *
 * <p>The waiting time of {@code tryLock(time, unit)} and its like keeps real time, too, also that of methods that return
 * a future: Redisson looks at the JVM's clock. A lock that becomes free in a turn wakes a waiter. Nothing ends its
 * waiting early.
 *
 * <p>Turns of {@code server.clock()} and {@code topology.clock()} turn servers only. Methods may be called by several threads. One turn follows the
 * other.
 */
public final class RedissonClock implements AutoCloseable {
    /** How much later than its deadline a timer runs in a turn, in milliseconds. Redisson's own timer has 100. */
    private static final long TICK = 10;
    /** More than the server's clock can be turned. */
    private static final Duration LONGEST = Duration.ofDays(365_000);
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);
    private static final long SOFT = TimeUnit.SECONDS.toNanos(5);
    /** How many commands may follow each other in answer to a timer, as SCRIPT LOAD and EVALSHA do. */
    private static final int ROUNDS = 8;

    private final LockredisTopology topology;
    private final List<Joint> joints;
    private boolean closed; // guarded by this

    private RedissonClock(LockredisTopology topology, List<Joint> joints) {
        this.topology = topology;
        this.joints = joints;
    }

    /**
     * Joins the timers of clients to the clock of the server that they use. {@link #close} undoes it.
     *
     * @throws IllegalArgumentException if no client is given
     * @throws IllegalStateException if a client has been joined before and its clock is not closed, or has a release of
     *     Redisson whose timer is not found
     * @throws UnsupportedOperationException if the server {@linkplain LockredisServer#isAttached is a real Redis}
     */
    public static RedissonClock join(LockredisServer server, RedissonClient... clients) {
        Objects.requireNonNull(server, "join(null, …): give the server that the clients use");
        return join(LockredisTopology.of(server), clients);
    }

    /**
     * Joins the timers of clients to the clock of all servers of a topology, as {@link #join(LockredisServer,
     * RedissonClient...)} does. A turn is one of {@link LockredisTopology#clock}. The clients may use one server each, or
     * all of them.
     */
    public static RedissonClock join(LockredisTopology topology, RedissonClient... clients) {
        Objects.requireNonNull(topology, "join(null, …): give the topology that the clients use");
        if (clients.length == 0) {
            throw new IllegalArgumentException("join needs a client of Redisson");
        }
        topology.clock(); // throws if the server has none
        Set<RedissonClient> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
        List<Joint> joints = new ArrayList<>();
        for (RedissonClient client : clients) {
            if (distinct.add(Objects.requireNonNull(client, "join(…, null): give a client of Redisson"))) {
                joints.add(new Joint(client));
            }
        }
        RedissonClock clock = new RedissonClock(topology, joints);
        for (Joint joint : joints) {
            joint.join();
        }
        return clock;
    }

    /**
     * Turns the server and the timers forward, from deadline to deadline, and returns what that has ended in the server.
     * Timers that came due have run, and their commands have been answered. A waiter that a lease's end has woken holds
     * the lock.
     *
     * <p>A turn takes a round trip or two for each deadline on its way. The tasks of timers run on the thread that calls.
     *
     * <p>While a command has no reply, the turn waits in real time, until Redisson gives the command up: about 20 seconds
     * after the first try, with Redisson's own timeout and retries. The turn goes on then. The renewal was missed, so the
     * lease may end in the turn, or has ended while it waited.
     *
     * @param by how far, in whole milliseconds
     * @throws IllegalArgumentException if the time is negative or more than 1000 years
     * @throws IllegalStateException if the clock is closed, a timer's task failed, a command has had no reply for 30
     *     seconds and the client's timeouts let it wait on, the thread is interrupted, or the caller is a thread of a
     *     client's connections, such as a listener: it could not read the replies
     */
    public synchronized Turn advance(Duration by) {
        Objects.requireNonNull(by, "advance(null): give how far the clock is turned");
        if (by.isNegative()) {
            throw new IllegalArgumentException("advance " + by + " is negative: server.clock().set turns the server back");
        }
        if (by.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("advance " + by + " is more than 1000 years");
        }
        if (closed) {
            throw new IllegalStateException("advance: the clock is closed");
        }
        List<Joint> open = new ArrayList<>();
        for (Joint joint : joints) {
            if (!joint.client.isShutdown()) {
                joint.begin();
                open.add(joint);
            }
        }
        awaitThreads();
        settle(open, false); // a test that has paused the server may turn the clock to end the pause
        List<Throwable> thrown = new ArrayList<>();
        Turn turn = null;
        try {
            long left = by.toMillis();
            do {
                Map<LockredisServer, List<Lock>> waited = waited();
                long step = step(left, open, waited);
                Turn next = topology.clock().advance(Duration.ofMillis(step));
                turn = turn == null ? next : turn.then(next);
                left -= step;
                if (next.woken() > 0) {
                    awaitWoken(waited, next.ended());
                    awaitThreads();
                    settle(open, true);
                }
                for (Joint joint : open) {
                    joint.timer.turn(step);
                }
                for (Joint joint : open) {
                    thrown.addAll(joint.timer.run());
                }
                settle(open, true);
            } while (left > 0);
        } finally {
            for (Joint joint : open) {
                joint.timer.setAlarms();
            }
        }
        if (!thrown.isEmpty()) {
            throw new IllegalStateException("advance " + by + ": a timer of Redisson failed", thrown.get(0));
        }
        return turn;
    }

    /** Gives the clients their timers back. Timers that are set keep the time that is left. The server's clock stays. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            for (Joint joint : joints) {
                joint.leave();
            }
        }
    }

    /** Returns the locks whose end would wake a waiter, by their server. */
    private Map<LockredisServer, List<Lock>> waited() {
        Map<LockredisServer, List<Lock>> waited = new LinkedHashMap<>();
        for (LockredisServer server : topology.servers()) {
            if (server.isRunning()) {
                waited.put(server, server.locks().stream()
                        .filter(lock -> !lock.queue().isEmpty() && !lock.holders().isEmpty()).collect(Collectors.toList()));
            }
        }
        return waited;
    }

    /** Returns how far to turn next: to a timer, or behind the end of a lease that is waited for, or to the end. */
    private static long step(long left, List<Joint> open, Map<LockredisServer, List<Lock>> waited) {
        long step = left;
        for (Joint joint : open) {
            OptionalLong next = joint.timer.next();
            if (next.isPresent()) {
                step = Math.min(step, next.getAsLong() + TICK);
            }
        }
        for (List<Lock> locks : waited.values()) {
            for (Lock lock : locks) {
                for (Lock.Holder holder : lock.holders()) {
                    if (holder.ttl().isPresent()) {
                        step = Math.min(step, holder.ttl().get().toMillis() + 1);
                    }
                }
            }
        }
        return step;
    }

    /**
     * Waits until the waiters of locks that have ended hold them, or wait no more. A waiter that does neither, such as
     * one of a client that hangs, delays a turn by some seconds.
     */
    private static void awaitWoken(Map<LockredisServer, List<Lock>> waited, List<String> ended) {
        long end = System.nanoTime() + SOFT;
        while (System.nanoTime() < end) {
            boolean open = false;
            for (Map.Entry<LockredisServer, List<Lock>> before : waited.entrySet()) {
                before.getValue().removeIf(lock -> !ended.contains(lock.name()));
                open |= !before.getValue().isEmpty() && isFree(before.getValue(), before.getKey().locks());
            }
            if (!open) {
                return;
            }
            sleep();
        }
    }

    /** Reports whether one of the locks is free now, and waited for. */
    private static boolean isFree(List<Lock> locks, List<Lock> now) {
        return locks.stream().anyMatch(before -> now.stream().anyMatch(lock ->
                lock.name().equals(before.name()) && lock.database() == before.database()
                && lock.holders().isEmpty() && !lock.queue().isEmpty()));
    }

    /**
     * Waits until each thread that runs in a method of Redisson has left it, or waits in it. A thread that has acquired a
     * lock sets the watchdog's timer then, if the reply came before it looked.
     */
    private static void awaitThreads() {
        long end = System.nanoTime() + SOFT;
        Set<Thread> running = inRedisson();
        while (!running.isEmpty() && System.nanoTime() < end) {
            sleep();
            running.retainAll(inRedisson());
        }
    }

    private static Set<Thread> inRedisson() {
        Set<Thread> running = new HashSet<>();
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            Thread.State state = thread.getState();
            if ((state == Thread.State.RUNNABLE || state == Thread.State.BLOCKED) && thread != Thread.currentThread()
                    && Arrays.stream(frames).anyMatch(frame -> frame.getClassName().startsWith("org.redisson."))) {
                running.add(thread);
            }
        });
        return running;
    }

    private static void settle(List<Joint> open, boolean strict) {
        for (Joint joint : open) {
            joint.settle(strict);
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static IllegalStateException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new IllegalStateException("advance: the thread is interrupted", cause);
    }

    /** A client and its timer. */
    private static final class Joint {
        final RedissonClient client;
        private final TimerField field;
        private final EventLoopGroup group;
        private final HashedWheelTimer real;
        final JoinedTimer timer;

        Joint(RedissonClient client) {
            this.client = client;
            field = TimerField.of(client);
            group = field.group();
            real = field.timer();
            if (real instanceof JoinedTimer) {
                throw new IllegalStateException("join: the client has a clock. Close that one first");
            }
            timer = new JoinedTimer(real);
        }

        void join() {
            field.set(timer);
            await(); // the connections' threads see the field
            timer.takeOver();
        }

        void leave() {
            field.set(real);
            timer.leave();
        }

        void begin() {
            for (EventExecutor thread : group) {
                if (thread.inEventLoop()) {
                    throw new IllegalStateException("advance: this thread reads the replies of Redisson, and would wait"
                            + " for itself. Call advance in the test's thread, not in a listener");
                }
            }
            try {
                timer.handedOver().get(PATIENCE, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                throw interrupted(e);
            } catch (ExecutionException e) {
                throw new IllegalStateException("advance: the timers that were set before join cannot be read from this"
                        + " release of netty", e.getCause());
            } catch (TimeoutException e) {
                throw new IllegalStateException("advance: Redisson's timer has stood for 30 seconds. Is this thread a"
                        + " task of it?", e);
            }
        }

        /**
         * Waits until the commands in flight, and those that follow from their replies, are answered. A turn that is
         * not strict waits some seconds at most.
         */
        void settle(boolean strict) {
            for (int round = 0; round < ROUNDS; round++) {
                try {
                    if (!timer.awaitReplies(timer.inFlight(), strict ? PATIENCE : SOFT)) {
                        if (!strict) {
                            return;
                        }
                        throw new IllegalStateException("advance: commands of Redisson have had no reply for 30 seconds."
                                + " Has the test paused the server, or does a fault hold replies back? End it first");
                    }
                } catch (InterruptedException e) {
                    throw interrupted(e);
                }
                long idle = timer.idle();
                await(); // a reply ends the command's timer first, and then sets the next timer, or sends a command
                if (idle >= 0 && timer.idle() == idle) {
                    return;
                }
            }
        }

        /** Waits until each thread of the connections has done what it had to do. */
        private void await() {
            List<Future<?>> done = new ArrayList<>();
            try {
                for (EventExecutor thread : group) {
                    done.add(thread.submit(() -> { }));
                }
                for (Future<?> thread : done) {
                    if (!thread.await(PATIENCE, TimeUnit.NANOSECONDS)) {
                        throw new IllegalStateException("advance: a thread of Redisson's connections has stood for 30"
                                + " seconds. Does a listener wait?");
                    }
                }
            } catch (RejectedExecutionException e) {
                return; // the client is being shut down
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
        }
    }
}
