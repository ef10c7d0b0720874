package io.github.lockredis.server;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The commands that are useless on a connection that ends with their reply. */
final class OwnConnection {
    private static final String NO_STATE = ": each call has a connection of its own, which ends with it. ";
    private static final String SUBSCRIBE = "Subscribe by a client";
    private static final Map<String, String> ADVICE = new HashMap<>();
    private static final Set<String> CLIENT =
            new HashSet<>(Arrays.asList("CACHING", "NO-EVICT", "SETNAME", "TRACKING"));

    static {
        ADVICE.put("SELECT", "EVAL may call SELECT before other commands");
        ADVICE.put("MULTI", "EVAL runs several commands as one");
        ADVICE.put("WATCH", "EVAL runs several commands as one");
        ADVICE.put("SUBSCRIBE", SUBSCRIBE);
        ADVICE.put("PSUBSCRIBE", SUBSCRIBE);
        ADVICE.put("SSUBSCRIBE", SUBSCRIBE);
        ADVICE.put("MONITOR", "Monitor by redis-cli");
    }

    private OwnConnection() {
    }

    /** Fails if a command has no effect, or no reply. */
    static void check(String... words) {
        String name = words[0].toUpperCase(Locale.ROOT);
        String second = words.length < 2 ? "" : words[1].toUpperCase(Locale.ROOT);
        if (name.equals("HELLO") && second.equals("3")) {
            throw new IllegalArgumentException("HELLO 3: command speaks RESP2");
        }
        if (name.equals("CLIENT") && second.equals("REPLY") && words.length == 3
                && !words[2].equalsIgnoreCase("ON")) {
            throw new IllegalArgumentException("CLIENT REPLY " + words[2]
                    + ": command waits for a reply, and each call has a connection of its own");
        }
        if (ADVICE.containsKey(name)) {
            throw new IllegalArgumentException(name + NO_STATE + ADVICE.get(name));
        }
        if (name.equals("CLIENT") && CLIENT.contains(second)) {
            throw new IllegalArgumentException("CLIENT " + second + NO_STATE + "Send it by a client");
        }
    }
}
