package io.github.lockredis.server;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The clock of a server, or the clocks of all servers of a topology. A test turns it in place of sleeping until a lease
 * ends. It goes on from where it was put, and has the machine's time again in the next test.
 *
 * <p>A waiter for a lock sleeps until the lease is over by its own clock, which is not turned. So for each lock whose
 * lease a turn ends, the server publishes the message that its release would have published. The waiters ask again. A
 * lease that ends by itself wakes nobody, as in Redis.
 *
 * <p>Clients send times of their own clock as arguments of scripts: Redisson for fair queues, permits, rate limiters
 * and RMapCache. While the clock is turned, the server moves such arguments: numbers of 13 digits that are Unix
 * milliseconds within ten years. What a client does by itself does not follow: the waiting time of tryLock, the
 * watchdog, the delayed queue.
 *
 * <p>{@link LockredisTopology#clock} turns all servers together. It stops at the deadlines of all servers, in their
 * order. At a deadline all clocks have been turned equally far, to the millisecond. So a client that wakes then finds
 * the same time at every server. Deadlines of the same millisecond follow each other in the order of the servers.
 * Clocks that differed before differ as much afterwards, and a server that is restarted has the machine's time:
 * {@link #set} gives all of them one time.
 */
public final class ServerClock {
    /** More than the server's clock can be turned, and a number of milliseconds. */
    private static final Duration LONGEST = Duration.ofDays(365_000);

    private final List<LockredisServer> servers;

    ServerClock(List<LockredisServer> servers) {
        this.servers = servers;
    }

    /** Returns the server's time. Of several servers it is the time of the first one that runs. */
    public Instant now() {
        return Instant.ofEpochMilli((Long) running().kit("CLOCK.NOW"));
    }

    /**
     * Turns the clock forward, from deadline to deadline, and returns what that has ended. Keys have expired then,
     * their events are out, and commands that waited have timed out.
     *
     * @throws IllegalArgumentException if the time is negative or more than 1000 years
     * @throws LockredisException if the clock would pass the year 2261
     */
    public Turn advance(Duration by) {
        Objects.requireNonNull(by, "advance(null): give how far the clock is turned");
        if (by.isNegative()) {
            throw new IllegalArgumentException("advance " + by + " is negative: set turns the clock back");
        }
        if (by.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("advance " + by + " is more than 1000 years");
        }
        return turn("CLOCK.ADVANCE", "BY", Long.toString(by.toMillis()));
    }

    /**
     * Turns the clock to a time. If it is earlier, nothing ends, and all leases last longer: what a clock does that
     * steps back.
     *
     * @throws IllegalArgumentException if the time is more than 1000 years from 1970
     * @throws LockredisException if the time is not between 1970 and 2261
     */
    public Turn set(Instant to) {
        Objects.requireNonNull(to, "set(null): give the time that the server shall have");
        if (Duration.between(Instant.EPOCH, to).abs().compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("set " + to + " is more than 1000 years from 1970");
        }
        return turn("CLOCK.SET", "TO", Long.toString(to.toEpochMilli()));
    }

    /** Turns the clock to the machine's time. */
    public Turn reset() {
        return turn("CLOCK.RESET", "REAL");
    }

    /**
     * Turns the clock.
     *
     * @param alone the command for one server
     * @param together the word of CONTROL TURN for several servers
     * @param time the argument of either, if it has one
     */
    private Turn turn(String alone, String together, String... time) {
        List<String> words = new ArrayList<>(servers.size() == 1 ? Arrays.asList(alone)
                : Arrays.asList("CONTROL", "TURN", together));
        words.addAll(Arrays.asList(time));
        return new Turn(new Fields(running().longKit(LockredisServer.TURN_TIMEOUT, words.toArray(new String[0]))));
    }

    /** Returns a server that can turn all clocks: the first one that runs. */
    private LockredisServer running() {
        return servers.stream().filter(LockredisServer::isRunning).findFirst().orElse(servers.get(0));
    }
}
