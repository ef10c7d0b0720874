package io.github.lockredis.server;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The locks of threads that outlive their test, as a failure has told them. Later tests are not to
 * blame for such a thread. A lock of a thread of this JVM that waits for its next task is never among
 * them: the task that acquired it has ended without its release.
 */
final class Told {
    private final Set<String> loops = new HashSet<>(); // guarded by this
    private final Map<String, Set<Object>> locks = new HashMap<>(); // by owner; guarded by this

    /** Adds all locks of an owner that acquires locks again and again. */
    synchronized void addLoop(Leak leak) {
        loops.add(leak.owner());
    }

    /** Adds the locks whose owners are other threads at work. Other locks of the threads are not told. */
    synchronized void addBusy(Collection<Leak> leaks) {
        Map<String, Boolean> busy = new HashMap<>(); // by owner: to look at a thread takes long
        for (Leak leak : leaks) {
            if (busy.computeIfAbsent(leak.owner(), Owners::isBusyElsewhere)) {
                locks.computeIfAbsent(leak.owner(), owner -> new HashSet<>()).add(name(leak));
            }
        }
    }

    /** Forgets the locks of threads whose task has ended. A loop may be a scheduled task: it stays. */
    synchronized void forgetIdle() {
        locks.keySet().removeIf(Owners::isIdle);
    }

    synchronized boolean contains(Leak leak) {
        String owner = leak.owner();
        boolean told = loops.contains(owner)
                || locks.containsKey(owner) && locks.get(owner).contains(name(leak));
        return told && !Owners.isIdle(owner);
    }

    private static Object name(Leak leak) {
        return Arrays.asList(leak.type(), leak.database(), leak.name());
    }
}
