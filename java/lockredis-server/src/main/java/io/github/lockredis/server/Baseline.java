package io.github.lockredis.server;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The leaks that a server had when a test began. They are compared by name and number, because a client that
 * connects again subscribes again, with another connection.
 */
final class Baseline {
    /** How many leaks the text describes. */
    private static final int DESCRIBED = 20;

    private final Map<Object, Integer> counts = new HashMap<>(); // of the leaks
    private final Map<Object, Integer> holds = new HashMap<>(); // of the same leaks, in all
    private final Set<Long> clients = new HashSet<>(); // the connections that they had

    /**
     * Makes the baseline of a server that has these leaks now.
     *
     * @param known how many leaks of a key count as present at least
     */
    Baseline(Collection<Leak> present, Map<Object, Integer> known) {
        for (Leak leak : present) {
            counts.merge(key(leak), 1, Integer::sum);
            holds.merge(key(leak), leak.holds(), Integer::sum);
            clients.add(leak.client().id());
        }
        known.forEach((key, count) -> counts.merge(key, count, Math::max));
    }

    /** Returns what stays the same when a client connects again. */
    static Object key(Leak leak) {
        return Arrays.asList(leak.type(), leak.name(), leak.database(), leak.owner(),
                leak.client().name());
    }

    /** Returns the leaks that were not there before, by their keys and numbers. */
    Map<Object, Leak> added(Collection<Leak> leaks) {
        Map<Object, List<Leak>> groups = new LinkedHashMap<>();
        for (Leak leak : leaks) {
            List<Leak> group = groups.computeIfAbsent(key(leak), key -> new ArrayList<>());
            group.add(clients.contains(leak.client().id()) ? 0 : group.size(), leak);
        }
        Map<Object, Leak> found = new LinkedHashMap<>();
        groups.forEach((key, group) -> {
            int before = counts.getOrDefault(key, 0);
            int first = before == group.size() && isHeldMoreOften(group) ? 0 : before;
            for (int i = first; i < group.size(); i++) {
                found.put(Arrays.asList(key, i), group.get(i));
            }
        });
        return found;
    }

    /** Reports whether an owner has acquired again what it held before the test. */
    private boolean isHeldMoreOften(List<Leak> group) {
        return group.stream().mapToInt(Leak::holds).sum() > holds.getOrDefault(key(group.get(0)), 0);
    }

    /**
     * Returns the text about leaks of the server at an address. It describes the first, and counts the others. Of
     * the first that may be data it says how to name it.
     *
     * @param wasAtWork whether the owner is a thread that was at work when the test began
     */
    String text(String address, Collection<Leak> leaks, Predicate<Leak> wasAtWork) {
        Optional<Leak> data = leaks.stream().filter(Leak::mayBeData).findFirst();
        return describe(address, leaks, wasAtWork) + data.map(leak -> "\nIf " + leak.name()
                + " is data and no lock, name its key with dataKeys").orElse("");
    }

    private String describe(String address, Collection<Leak> leaks, Predicate<Leak> wasAtWork) {
        StringBuilder text = new StringBuilder()
                .append(leaks.size() == 1 ? "a leak" : leaks.size() + " leaks")
                .append(" on ").append(address).append(':');
        int described = 0;
        for (Leak leak : leaks) {
            if (++described > DESCRIBED) {
                return text.append("\n  and ").append(leaks.size() - DESCRIBED).append(" more").toString();
            }
            text.append("\n  ").append(leak.text());
            if (leak.isHistory()) {
                text.append(" (also half a second after the test, or later)");
            }
            if (wasAtWork.test(leak)) {
                text.append(" (its thread was at work before this test)");
            }
            if (counts.containsKey(key(leak)) && leak.holds() > 0) {
                text.append(" (when the test began, the hold count was ")
                        .append(holds.get(key(leak))).append(')');
            }
        }
        return text.toString();
    }
}
