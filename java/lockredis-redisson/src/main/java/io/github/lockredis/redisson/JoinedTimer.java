package io.github.lockredis.redisson;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;

/**
 * Stands in the place of a client's timer. Real time goes on: every timeout also has an alarm in the timer of the
 * client. A turn runs the timeouts that come due by it on the thread that turns, and takes their alarms back.
 *
 * <p>It extends HashedWheelTimer because Redisson's field has this type. The thread of that class never starts.
 */
final class JoinedTimer extends HashedWheelTimer {
    private final HashedWheelTimer real;
    private final CompletableFuture<Void> handedOver = new CompletableFuture<>();

    // All below are guarded by this.
    private final Set<Turned> timeouts = new HashSet<>();
    private final Map<Object, Integer> commands = new HashMap<>(); // the timers of each command in flight
    private long started; // timers of commands
    private long turned; // nanoseconds
    private boolean left;

    JoinedTimer(HashedWheelTimer real) {
        super(task -> {
            Thread unused = new Thread(task);
            unused.setDaemon(true); // netty reports the leak of a timer whose thread is no daemon
            return unused;
        }, 100, TimeUnit.MILLISECONDS, 1, false);
        this.real = real;
    }

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        Kind kind = isLeft() ? Kind.REAL : Kind.of(task);
        switch (kind) {
            case COMMAND:
                return new Command(task).start(delay, unit);
            case TURNED:
                return new Turned(task, now() + unit.toNanos(delay)).start(delay, unit);
            default:
                return real.newTimeout(task, delay, unit);
        }
    }

    @Override
    public void start() {
        real.start();
    }

    @Override
    public Set<Timeout> stop() {
        super.stop(); // netty counts the timers that were not stopped
        return real.stop();
    }

    @Override
    public long pendingTimeouts() {
        return real.pendingTimeouts();
    }

    /** Ends the joint: from now on timeouts are those of the client's timer. */
    void leave() {
        synchronized (this) {
            left = true;
            timeouts.clear();
        }
        super.stop();
    }

    private synchronized boolean isLeft() {
        return left;
    }

    private synchronized long now() {
        return System.nanoTime() + turned;
    }

    /**
     * Takes over the timeouts that the client's timer had before. Its own thread does it, at its next tick: only that
     * thread changes its buckets. {@link #handedOver} is complete then.
     */
    void takeOver() {
        real.newTimeout(timeout -> {
            try {
                readBuckets();
                handedOver.complete(null);
            } catch (ReflectiveOperationException | RuntimeException e) {
                handedOver.completeExceptionally(e);
            }
        }, 0, TimeUnit.MILLISECONDS);
    }

    CompletableFuture<Void> handedOver() {
        return handedOver;
    }

    private void readBuckets() throws ReflectiveOperationException {
        Object wheel = read(HashedWheelTimer.class, real, "wheel");
        long start = (Long) read(HashedWheelTimer.class, real, "startTime");
        for (int i = 0; i < Array.getLength(wheel); i++) {
            Object bucket = Array.get(wheel, i);
            Object timeout = read(bucket.getClass(), bucket, "head");
            while (timeout != null) {
                Timeout before = (Timeout) timeout;
                if (Kind.of(before.task()) == Kind.TURNED) {
                    long deadline = start + (Long) read(timeout.getClass(), timeout, "deadline");
                    new Turned(before, deadline).add();
                }
                timeout = read(timeout.getClass(), timeout, "next");
            }
        }
    }

    private static Object read(Class<?> type, Object object, String name) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    /** Returns the milliseconds until the next timeout that follows the clock, rounded up. Empty: there is none. */
    synchronized OptionalLong next() {
        timeouts.removeIf(timeout -> !timeout.isPending());
        OptionalLong next = timeouts.stream().mapToLong(timeout -> timeout.deadline - now()).min();
        return next.isPresent() ? OptionalLong.of(Math.max(0, next.getAsLong() / 1_000_000 + 1)) : next;
    }

    /** Turns the time of the timeouts. {@link #run} runs those that are due by it. */
    synchronized void turn(long millis) {
        turned += TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /** Runs the timeouts that are due, the earliest first, and returns what they threw. */
    List<Throwable> run() {
        List<Turned> due = new ArrayList<>();
        synchronized (this) {
            for (Turned timeout : timeouts) {
                if (timeout.deadline <= now()) {
                    due.add(timeout);
                }
            }
        }
        due.sort(Comparator.comparingLong(timeout -> timeout.deadline));
        List<Throwable> thrown = new ArrayList<>();
        for (Turned timeout : due) {
            try {
                timeout.expire();
            } catch (Throwable e) { // as the client's timer does, which logs it
                thrown.add(e);
            }
        }
        return thrown;
    }

    /** Sets the alarms of all timeouts anew: the turned time has shortened them. */
    void setAlarms() {
        List<Turned> all;
        synchronized (this) {
            all = new ArrayList<>(timeouts);
        }
        for (Turned timeout : all) {
            timeout.setAlarm(Math.max(0, timeout.deadline - now()), TimeUnit.NANOSECONDS);
        }
    }

    /** Returns the commands without a reply. Commands that wait in the server are not among them. */
    synchronized Set<Object> inFlight() {
        return new HashSet<>(commands.keySet());
    }

    /** Returns how many timers of commands there have been, or -1 while a command is in flight. */
    synchronized long idle() {
        return commands.isEmpty() ? started : -1;
    }

    /** Waits until none of these commands is in flight, or the time is over. Says whether that is so. */
    synchronized boolean awaitReplies(Set<Object> of, long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        while (commands.keySet().stream().anyMatch(of::contains)) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }

    /** A timeout of this timer. Its alarm in the client's timer runs it. */
    private abstract class Alarmed implements Timeout, TimerTask {
        final TimerTask task;

        Alarmed(TimerTask task) {
            this.task = task;
        }

        @Override
        public Timer timer() {
            return JoinedTimer.this;
        }

        @Override
        public TimerTask task() {
            return task;
        }
    }

    /** A timeout of a command: it is in the client's timer, and counted. */
    private final class Command extends Alarmed {
        private final Object command;
        private final AtomicBoolean over = new AtomicBoolean();
        private volatile Timeout alarm;

        Command(TimerTask task) {
            super(task);
            command = Kind.command(task);
        }

        Command start(long delay, TimeUnit unit) {
            synchronized (JoinedTimer.this) {
                commands.merge(command, 1, Integer::sum);
                started++;
            }
            try {
                alarm = real.newTimeout(this, delay, unit);
            } catch (RuntimeException e) {
                end();
                throw e;
            }
            return this;
        }

        private void end() {
            if (over.compareAndSet(false, true)) {
                synchronized (JoinedTimer.this) {
                    commands.computeIfPresent(command, (key, timers) -> timers == 1 ? null : timers - 1);
                    JoinedTimer.this.notifyAll();
                }
            }
        }

        @Override
        public void run(Timeout timeout) throws Exception {
            alarm = timeout; // start may not have set it yet
            try {
                task.run(this);
            } finally {
                end();
            }
        }

        @Override
        public boolean isExpired() {
            return alarm.isExpired();
        }

        @Override
        public boolean isCancelled() {
            return alarm.isCancelled();
        }

        @Override
        public boolean cancel() {
            boolean cancelled = alarm.cancel();
            end();
            return cancelled;
        }
    }

    /**
     * A timeout that follows the clock. A client holds it, or the timeout of the client's timer that it was made of:
     * then that one has the state.
     */
    private final class Turned extends Alarmed {
        private final long deadline; // nanoseconds of now
        private final Timeout before; // null: the client holds this timeout itself
        private final AtomicBoolean over = new AtomicBoolean();
        private volatile boolean expired;
        private Timeout alarm; // guarded by this

        Turned(TimerTask task, long deadline) {
            super(task);
            this.deadline = deadline;
            before = null;
        }

        Turned(Timeout before, long deadline) {
            super(before.task());
            this.deadline = deadline;
            this.before = before;
        }

        Turned start(long delay, TimeUnit unit) {
            setAlarm(delay, unit);
            add();
            return this;
        }

        void add() {
            synchronized (JoinedTimer.this) {
                if (!left) {
                    timeouts.add(this);
                }
            }
        }

        synchronized void setAlarm(long delay, TimeUnit unit) {
            if (alarm != null) {
                alarm.cancel();
            }
            if (isPending()) {
                alarm = real.newTimeout(this, delay, unit);
            }
        }

        boolean isPending() {
            return before == null ? !over.get() : !before.isCancelled() && !before.isExpired();
        }

        private boolean end() {
            boolean first = before == null ? over.compareAndSet(false, true) : before.cancel();
            synchronized (JoinedTimer.this) {
                timeouts.remove(this);
            }
            return first;
        }

        /** Runs the task, unless it has run or was cancelled. */
        void expire() throws Exception {
            if (end()) {
                expired = true;
                cancelAlarm();
                task.run(before == null ? this : before);
            }
        }

        private synchronized void cancelAlarm() {
            if (alarm != null) {
                alarm.cancel();
            }
        }

        @Override
        public void run(Timeout timeout) throws Exception {
            expire();
        }

        @Override
        public boolean isExpired() {
            return expired;
        }

        @Override
        public boolean isCancelled() {
            return over.get() && !expired;
        }

        @Override
        public boolean cancel() {
            boolean cancelled = end();
            cancelAlarm();
            return cancelled;
        }
    }
}
