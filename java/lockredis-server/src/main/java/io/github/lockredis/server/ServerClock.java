package io.github.lockredis.server;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/**
 * The clock of a server. A test turns it in place of sleeping until a lease ends. It goes on from where it was put, and
 * has the machine's time again in the next test.
 *
 * <p>A waiter for a lock sleeps until the lease is over by its own clock, which is not turned. So for each lock whose
 * lease a turn ends, the server publishes the message that its release would have published. The waiters ask again. A
 * lease that ends by itself wakes nobody, as in Redis.
 *
 * <p>Clients send times of their own clock as arguments of scripts: Redisson for fair queues, permits, rate limiters and
 * RMapCache. While the clock is turned, the server moves such arguments: numbers of 13 digits that are Unix milliseconds
 * within ten years. What a client does by itself does not follow: the waiting time of tryLock, the watchdog, the delayed
 * queue.
 */
public final class ServerClock {
    private final LockredisServer server;

    ServerClock(LockredisServer server) {
        this.server = server;
    }

    /** Returns the server's time. */
    public Instant now() {
        return Instant.ofEpochMilli((Long) server.kit("CLOCK.NOW"));
    }

    /**
     * Turns the clock forward, from deadline to deadline, and returns what that has ended. Keys have expired then, their
     * events are out, and commands that waited have timed out.
     *
     * @throws IllegalArgumentException if the time is negative
     * @throws LockredisException if the clock would pass the year 2261
     */
    public Turn advance(Duration by) {
        Objects.requireNonNull(by, "advance(null): give how far the clock is turned");
        if (by.isNegative()) {
            throw new IllegalArgumentException("advance " + by + " is negative: set turns the clock back");
        }
        return turn("CLOCK.ADVANCE", Long.toString(by.toMillis()));
    }

    /**
     * Turns the clock to a time. If it is earlier, nothing ends, and all leases last longer: what a clock does that
     * steps back.
     *
     * @throws LockredisException if the time is not between 1970 and 2261
     */
    public Turn set(Instant to) {
        Objects.requireNonNull(to, "set(null): give the time that the server shall have");
        return turn("CLOCK.SET", Long.toString(to.toEpochMilli()));
    }

    /** Turns the clock to the machine's time. */
    public Turn reset() {
        return turn("CLOCK.RESET");
    }

    private Turn turn(String... command) {
        return new Turn(new Fields(server.longKit(LockredisServer.TURN_TIMEOUT, command)));
    }
}
