package io.github.lockredis.server;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Since when the leaks of the last look are there, after the end of a test. A lock that its owner has released and
 * acquired again is there anew. Times are those of System.nanoTime.
 */
final class Stays {
    /** What the age of a hold may differ by: the server counts in milliseconds. */
    private static final Duration ROUNDING = Duration.ofMillis(2);

    private final Map<Object, Leak> first = new LinkedHashMap<>(); // as the look saw a leak that saw it first
    private final Map<Object, Long> since = new HashMap<>();

    /** Takes over the leaks of a look that began and was answered at these times. */
    void look(Map<Object, Leak> left, long lookedAt, long answeredAt) {
        first.keySet().retainAll(left.keySet());
        since.keySet().retainAll(left.keySet());
        left.forEach((key, leak) -> {
            first.putIfAbsent(key, leak);
            since.merge(key, answeredAt, (seen, now) -> Math.max(seen, acquiredAt(leak, lookedAt)));
        });
    }

    /** Returns how long it takes until all of them have stayed for a time, in milliseconds: at most 0 if they have. */
    long rest(long millis, long lookedAt) {
        return since.values().stream().mapToLong(time -> millis - millisBetween(time, lookedAt)).max().orElse(0);
    }

    /** Adds those that have stayed for a time, as they were seen first. */
    void addStayed(long millis, long lookedAt, Map<Object, Leak> leaks) {
        first.forEach((key, leak) -> {
            if (millisBetween(since.get(key), lookedAt) >= millis) {
                leaks.put(key, leak);
            }
        });
    }

    /** Returns the time at which an owner has acquired a lock, at the earliest. The age of other leaks is not known. */
    static long acquiredAt(Leak leak, long lookedAt) {
        return leak.type().equals("lock") && leak.heldFor().isPresent()
                ? lookedAt - leak.heldFor().get().plus(ROUNDING).toNanos() : Long.MIN_VALUE;
    }

    static long millisBetween(long nanoTime, long later) {
        return TimeUnit.NANOSECONDS.toMillis(later - nanoTime);
    }
}
