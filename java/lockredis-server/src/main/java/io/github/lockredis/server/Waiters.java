package io.github.lockredis.server;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Wakes the waiters that a test has left. A waiter that stays would get its lock or permit during a later
 * test, which would then fail for it.
 *
 * <p>A waiter of a lock acquires it when the lock is deleted. A waiter of a semaphore gets an error. With a
 * permit it would return the permit later, which makes a semaphore of that name in a later test. The waiters
 * of a latch go on: it does not exist any more, as at zero.
 */
final class Waiters {
    private static final String SEMAPHORE = "semaphore"; // as LOCK.LEAKS calls the kinds
    private static final String LATCH = "count-down-latch";

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
    private final Map<String, Leak> broken = new LinkedHashMap<>(); // semaphores' channels
    private Map<String, Leak> channels = new LinkedHashMap<>(); // with a subscription to each
    private boolean everSet; // whether channels had an element
    private int wakes;
    private int messages = 1; // to a semaphore, by the next wake

    Waiters(LockredisServer server) {
        this.server = server;
    }

    /** Reports whether it is a subscription to the channel of a lock. */
    static boolean isOfLock(Leak leak) {
        return announces(leak) && !leak.kind().equals(SEMAPHORE) && !leak.kind().equals(LATCH);
    }

    /** Reports whether it is a subscription to the channel of a semaphore. */
    static boolean isOfSemaphore(Leak leak) {
        return announces(leak) && leak.kind().equals(SEMAPHORE);
    }

    /** Reports whether it is a subscription to the channel of a lock, a semaphore or a latch. */
    private static boolean announces(Leak leak) {
        return leak.type().equals("subscription") && !leak.kind().isEmpty();
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
        Map<String, Leak> now = new LinkedHashMap<>();
        for (Leak leak : subscriptions) {
            if (isOfLock(leak) || isOfSemaphore(leak)) {
                now.put(leak.name(), leak);
            }
        }
        boolean changed = !now.keySet().equals(channels.keySet());
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
        return channels.values().stream().anyMatch(Waiters::isOfSemaphore);
    }

    /** Reports whether there may be a waiter for the lock with a name. */
    boolean isWanted(String lock) {
        return isWanted(lock, channels.values());
    }

    /** Reports whether one of the leaks is a subscription to a channel of the lock with a name. */
    static boolean isWanted(String lock, Collection<Leak> leaks) {
        return leaks.stream().anyMatch(leak ->
                isOfLock(leak) && braced(leak.waitsFor()).equals(braced(lock)));
    }

    /** Returns a name in braces, if it has none of its own. Redisson does so in the names of channels. */
    private static String braced(String name) {
        return name.contains("{") ? name : "{" + name + "}";
    }

    /** Wakes the waiters of the latches among the leaks. */
    void wakeLatches(Collection<Leak> leaks) {
        for (Leak leak : leaks) {
            if (announces(leak) && leak.kind().equals(LATCH)) {
                server.kit("PUBLISH", leak.name(), "0");
                server.kit("SPUBLISH", leak.name(), "0");
            }
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
        channels.forEach((channel, leak) -> {
            if (isOfLock(leak)) {
                locks.computeIfAbsent(braced(leak.waitsFor()), lock -> new ArrayList<>()).add(channel);
                return;
            }
            broken.put(channel, leak);
            String key = leak.waitsFor();
            String inBraces = braced(key); // the channel's name does not tell {a} from a
            command.addAll(Arrays.asList(channel, Integer.toString(leak.database()), key,
                    key.equals(inBraces) ? "" : inBraces, Integer.toString(messages)));
        });
        for (List<String> waiters : locks.values()) { // one acquires the lock, another would try in vain
            command.addAll(Arrays.asList(waiters.get(wakes % waiters.size()), "", "", "", "1"));
        }
        wakes++;
        server.kit(command.toArray(new String[0]));
    }

    /** Deletes the keys of the semaphores. Without it the keys that woke their waiters are left, as lists. */
    void deleteSemaphores() {
        broken.values().forEach(leak -> server.kit("EVAL", DELETE, "2", leak.waitsFor(),
                braced(leak.waitsFor()), Integer.toString(leak.database())));
    }
}
