package io.github.lockredis.server;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Ends the waiters that a test has left. A waiter that stays would get its lock or permit during a later
 * test, which would then fail for it.
 *
 * <p>The waiters of a lock acquire it, one after the other, and each time the lock is deleted. A waiter of
 * a semaphore gets an error. With a permit it would return the permit later, which makes a semaphore of
 * that name in a later test. The waiters of a latch go on: it does not exist any more, as at zero.
 */
final class Waiters {
    /** The channels of locks. Their waiters try to acquire the lock when they receive 0. */
    private static final Pattern LOCK =
            Pattern.compile("(redisson_lock__channel|redisson_rwlock):.*", Pattern.DOTALL);

    /** The channels of semaphores, and the name. It is in braces if it has none of its own. */
    private static final Pattern SEMAPHORE =
            Pattern.compile("redisson_sc:(\\{([^{]*)}|.*)", Pattern.DOTALL);

    /** How many waiters of a semaphore a message wakes. They try to acquire a permit. */
    private static final String MANY = "1000";

    /** The channels of latches. Their waiters go on when they receive 0. */
    private static final String LATCH = "redisson_countdownlatch__channel__";

    /** Makes keys lists, in a database. The scripts of a semaphore's waiters fail with WRONGTYPE then. */
    private static final String BREAK = "redis.call('select', ARGV[1])\n"
            + "for _, key in ipairs(KEYS) do\n"
            + "  redis.call('del', key)\n"
            + "  redis.call('rpush', key, 'the test of this semaphore has ended')\n"
            + "end";

    /** Deletes keys in a database. */
    private static final String DELETE = "redis.call('select', ARGV[1])\nredis.call('del', unpack(KEYS))";

    private final LockredisServer server;
    private final Map<String, String> messages = new HashMap<>(); // by channel
    private final Map<String, Integer> semaphores = new HashMap<>(); // channels and their databases

    /** Makes the waiters that are among the leaks of a test. */
    Waiters(LockredisServer server, Collection<Leak> leaks) {
        this.server = server;
        for (Leak leak : leaks) {
            if (isOfLock(leak)) {
                messages.put(leak.name(), "0");
            } else if (isOfSemaphore(leak)) {
                messages.put(leak.name(), MANY);
                semaphores.put(leak.name(), leak.database());
            }
        }
    }

    /** Reports whether it is a subscription to the channel of a lock. */
    static boolean isOfLock(Leak leak) {
        return leak.type().equals("subscription") && LOCK.matcher(leak.name()).matches();
    }

    /** Reports whether it is a subscription to the channel of a semaphore. */
    static boolean isOfSemaphore(Leak leak) {
        return leak.type().equals("subscription") && SEMAPHORE.matcher(leak.name()).matches();
    }

    /**
     * Returns the fresh subscriptions to channels that have no older one: what ends a waiter ends
     * every waiter of the semaphore.
     */
    static Collection<Leak> unshared(Collection<Leak> seen, Collection<Leak> fresh) {
        Set<String> older = new HashSet<>();
        for (Leak leak : seen) {
            if (leak.type().equals("subscription") && !fresh.contains(leak)) {
                older.add(leak.name());
            }
        }
        List<Leak> unshared = new ArrayList<>(fresh);
        unshared.removeIf(leak -> older.contains(leak.name()));
        return unshared;
    }

    /** Wakes the waiters of all latches. */
    void wakeLatches() {
        for (Object channel : channels("CHANNELS", LATCH + "*")) {
            server.command("PUBLISH", (String) channel, "0");
        }
    }

    /** Wakes the waiters of locks and semaphores. Returns false if there are none. */
    boolean wake() {
        if (messages.isEmpty()) {
            return false;
        }
        return wake("CHANNELS", "PUBLISH") | wake("SHARDCHANNELS", "SPUBLISH");
    }

    private boolean wake(String list, String publish) {
        boolean found = false;
        for (Object channel : channels(list, "*")) {
            if (messages.containsKey(channel)) {
                if (semaphores.containsKey(channel)) {
                    run(BREAK, (String) channel);
                }
                server.command(publish, (String) channel, messages.get(channel));
                found = true;
            }
        }
        return found;
    }

    private List<?> channels(String list, String pattern) {
        return (List<?>) server.command("PUBSUB", list, pattern);
    }

    /** Deletes the keys of the semaphores. Without it the keys that woke their waiters are left, as lists. */
    void deleteSemaphores() {
        semaphores.keySet().forEach(channel -> run(DELETE, channel));
    }

    /** Runs a script with the keys of a semaphore. */
    private void run(String script, String channel) {
        Matcher parts = SEMAPHORE.matcher(channel);
        parts.matches();
        String inBraces = parts.group(2); // null: the name is all of group 1
        String database = semaphores.get(channel).toString();
        if (inBraces == null) {
            server.command("EVAL", script, "1", parts.group(1), database);
        } else {
            server.command("EVAL", script, "2", parts.group(1), inBraces, database);
        }
    }
}
