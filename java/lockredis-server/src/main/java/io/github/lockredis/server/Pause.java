package io.github.lockredis.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A pause of clients, as a server's own commands have begun it. */
final class Pause {
    private static final Duration LONGEST = Duration.ofDays(365);

    private volatile long until; // of System.nanoTime, 0: no pause

    /** Fails if a pause cannot last so long. */
    static void check(String method, Duration time) {
        if (time.isNegative() || time.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(method + " " + time + " is not in 0 to 365 days");
        }
    }

    /** Notes the pause that a command has begun or ended. */
    void note(String... command) {
        if (command.length < 2 || !command[0].equalsIgnoreCase("CLIENT")) {
            return;
        }
        if (command[1].equalsIgnoreCase("PAUSE")) {
            long millis = Math.min(Long.parseLong(command[2]), LONGEST.toMillis());
            until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        } else if (command[1].equalsIgnoreCase("UNPAUSE")) {
            end();
        }
    }

    /** Notes that no client is paused. */
    void end() {
        until = 0;
    }

    /** Returns how long it lasts. Zero: no pause. */
    Duration left() {
        long left = until == 0 ? 0 : until - System.nanoTime();
        return Duration.ofNanos(Math.max(0, left));
    }
}
