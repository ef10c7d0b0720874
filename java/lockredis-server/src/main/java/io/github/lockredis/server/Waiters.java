package io.github.lockredis.server;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Wakes the waiters that a test has left. A waiter that stays would get its lock or permit during a later
 * test, which would then fail for it.
 *
 * <p>A waiter of a lock acquires it when the lock is deleted. A waiter of a semaphore gets an error. With a
 * permit it would return the permit later, which makes a semaphore of that name in a later test. The waiters
 * of a latch go on: it does not exist any more, as at zero.
 */
final class Waiters {
    /** The channels of locks. A waiter tries to acquire the lock when it receives 0. */
    private static final Pattern LOCK =
            Pattern.compile("(redisson_lock__channel|redisson_rwlock):(.*)", Pattern.DOTALL);

    /** The channels of semaphores, and the name. It is in braces if it has none of its own. */
    private static final Pattern SEMAPHORE =
            Pattern.compile("redisson_sc:(\\{([^{]*)}|.*)", Pattern.DOTALL);

    /** The channels of latches. Their waiters go on when they receive 0. */
    private static final String LATCH = "redisson_countdownlatch__channel__";

    /** The channel of one waiter of a fair lock: the lock's, a colon and the owner. */
    private static final Pattern FAIR = Pattern.compile("(.*):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:\\d+",
            Pattern.DOTALL);

    /**
     * How many messages a wake sends to the channel of a semaphore at most. One wakes all threads that
     * wait, and one waiter without a thread.
     */
    private static final int MESSAGES = 64;

    /**
     * Wakes waiters. It deletes all data if ARGV[1] is flush. Five arguments follow for each channel: its
     * name, then of a semaphore the database, one or two keys, and the number of messages. The keys become
     * lists, so that the script of a waiter fails with WRONGTYPE.
     */
    private static final String WAKE = "if ARGV[1] == 'flush' then redis.call('flushall') end\n"
            + "for i = 2, #ARGV, 5 do\n"
            + "  local message = '0'\n"
            + "  if ARGV[i + 1] ~= '' then\n"
            + "    redis.call('select', ARGV[i + 1])\n"
            + "    message = '1000'\n"
            + "    for j = i + 2, ARGV[i + 3] == '' and i + 2 or i + 3 do\n"
            + "      redis.call('del', ARGV[j])\n"
            + "      redis.call('rpush', ARGV[j], 'the test of this semaphore has ended')\n"
            + "    end\n"
            + "  end\n"
            + "  for _ = 1, ARGV[i + 4] do\n"
            + "    redis.call('publish', ARGV[i], message)\n"
            + "    redis.call('spublish', ARGV[i], message)\n"
            + "  end\n"
            + "end";

    /** Deletes keys in a database. */
    private static final String DELETE = "redis.call('select', ARGV[1])\nredis.call('del', unpack(KEYS))";

    private final LockredisServer server;
    private final Map<String, Integer> broken = new LinkedHashMap<>(); // semaphores' channels, and databases
    private Map<String, Integer> channels = new LinkedHashMap<>(); // and databases
    private boolean everSet; // whether channels had an element
    private int wakes;
    private int messages = 1; // to a semaphore, by the next wake

    Waiters(LockredisServer server) {
        this.server = server;
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

    /** Sets the subscriptions at which there may be waiters now. Reports whether that changes channels. */
    boolean set(Collection<Leak> subscriptions) {
        Map<String, Integer> now = new LinkedHashMap<>();
        for (Leak leak : subscriptions) {
            if (isOfLock(leak) || isOfSemaphore(leak)) {
                now.put(leak.name(), leak.database());
            }
        }
        boolean changed = !now.equals(channels);
        channels = now;
        everSet |= changed;
        return changed;
    }

    /** Reports whether there is no waiter at a subscription. */
    boolean isEmpty() {
        return channels.isEmpty();
    }

    /** Reports whether there was none at any time. */
    boolean haveNeverBeen() {
        return !everSet;
    }

    /** Reports whether there may be a waiter of a semaphore. */
    boolean haveSemaphores() {
        return channels.keySet().stream().anyMatch(channel -> SEMAPHORE.matcher(channel).matches());
    }

    /** Reports whether there may be a waiter for the lock with a name. */
    boolean isWanted(String lock) {
        return isWanted(lock, channels.keySet());
    }

    /** Reports whether the channels include the lock's channel, or the channel of a waiter in its queue. */
    static boolean isWanted(String lock, Collection<String> channels) {
        String name = lock.contains("{") ? lock : "{" + lock + "}"; // as Redisson does
        for (String channel : channels) {
            Matcher parts = LOCK.matcher(channel);
            if (parts.matches() && (parts.group(2).equals(name) || isFair(parts.group(2), name))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isFair(String channel, String name) {
        Matcher fair = FAIR.matcher(channel);
        return fair.matches() && fair.group(1).equals(name);
    }

    /** Wakes the waiters of all latches. */
    void wakeLatches() {
        for (Object channel : (List<?>) server.command("PUBSUB", "CHANNELS", LATCH + "*")) {
            server.command("PUBLISH", (String) channel, "0");
        }
    }

    /**
     * Wakes waiters of locks and semaphores.
     *
     * @param flush whether to delete all data before
     * @param more whether waiters have ended since the last wake: then this one wakes more
     */
    void wake(boolean flush, boolean more) {
        messages = more ? Math.min(2 * messages, MESSAGES) : 1;
        List<String> command = new ArrayList<>(Arrays.asList("EVAL", WAKE, "0", flush ? "flush" : ""));
        Map<String, List<String>> locks = new LinkedHashMap<>(); // of a fair one the channels of its waiters
        channels.forEach((channel, database) -> {
            Matcher parts = SEMAPHORE.matcher(channel);
            if (!parts.matches()) {
                Matcher fair = FAIR.matcher(channel);
                locks.computeIfAbsent(fair.matches() ? fair.group(1) : channel, lock -> new ArrayList<>())
                        .add(channel);
                return;
            }
            broken.put(channel, database);
            String inBraces = parts.group(2); // null: the name is all of group 1
            command.addAll(Arrays.asList(channel, database.toString(), parts.group(1),
                    inBraces == null ? "" : inBraces, Integer.toString(messages)));
        });
        for (List<String> waiters : locks.values()) { // one acquires the lock, another would try in vain
            command.addAll(Arrays.asList(waiters.get(wakes % waiters.size()), "", "", "", "1"));
        }
        wakes++;
        server.command(command.toArray(new String[0]));
    }

    /** Deletes the keys of the semaphores. Without it the keys that woke their waiters are left, as lists. */
    void deleteSemaphores() {
        broken.forEach((channel, database) -> {
            Matcher parts = SEMAPHORE.matcher(channel);
            parts.matches();
            String inBraces = parts.group(2);
            server.command("EVAL", DELETE, "2", parts.group(1), inBraces == null ? parts.group(1) : inBraces,
                    database.toString());
        });
    }
}
