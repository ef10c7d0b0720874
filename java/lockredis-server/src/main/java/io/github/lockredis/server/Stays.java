package io.github.lockredis.server;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How long the leaks of the last look have been there since their test ended. The time of a lock begins anew when its
 * owner releases it and acquires it again. Points of time are those of System.nanoTime.
 */
final class Stays {
    /** By how much the age of a hold may be wrong: the server counts in milliseconds. */
    private static final Duration ROUNDING = Duration.ofMillis(2);

    private final Map<Object, Leak> first = new LinkedHashMap<>(); // the leaks as the first look that saw them
    private final Map<Object, Long> since = new HashMap<>(); // when each of them appeared, at the latest

    /**
     * Replaces the leaks by those of a look.
     *
     * @param lookedAt when the look began
     * @param answeredAt when it was answered
     */
    void look(Map<Object, Leak> left, long lookedAt, long answeredAt) {
        first.keySet().retainAll(left.keySet());
        since.keySet().retainAll(left.keySet());
        left.forEach((key, leak) -> {
            first.putIfAbsent(key, leak);
            since.merge(key, answeredAt, (seen, now) -> Math.max(seen, acquiredAt(leak, lookedAt)));
        });
    }

    /** Returns how many milliseconds are left until all leaks have stayed for a time: 0 or less if they have. */
    long rest(long millis, long lookedAt) {
        return since.values().stream().mapToLong(time -> millis - millisBetween(time, lookedAt)).max().orElse(0);
    }

    /** Returns the leaks that have stayed for a time, as they were seen first. */
    Map<Object, Leak> stayed(long millis, long lookedAt) {
        Map<Object, Leak> leaks = new LinkedHashMap<>(first);
        leaks.keySet().removeIf(key -> millisBetween(since.get(key), lookedAt) < millis);
        return leaks;
    }

    /**
     * Returns the earliest time at which an owner may have acquired a lock. For a leak whose age is not known, that is
     * before all others.
     */
    static long acquiredAt(Leak leak, long lookedAt) {
        return leak.type().equals("lock") && leak.heldFor().isPresent()
                ? lookedAt - leak.heldFor().get().plus(ROUNDING).toNanos() : Long.MIN_VALUE;
    }

    /** Returns the milliseconds from one point of time to a later one. */
    static long millisBetween(long nanoTime, long later) {
        return TimeUnit.NANOSECONDS.toMillis(later - nanoTime);
    }
}
