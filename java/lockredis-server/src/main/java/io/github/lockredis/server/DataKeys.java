package io.github.lockredis.server;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Patterns of keys that are data, though they look like locks. They have the syntax of KEYS. */
final class DataKeys {
    private final String[] patterns; // of bytes, as Redis compares

    DataKeys(String... patterns) {
        this.patterns = Arrays.stream(patterns).map(DataKeys::bytes).toArray(String[]::new);
    }

    /**
     * Reports whether a leak is of a key that is data, or a subscription that waits for its release. A blocked client
     * and another subscription never are.
     */
    boolean matches(Leak leak) {
        if (patterns.length == 0) {
            return false;
        }
        return leak.owner().isEmpty() ? !leak.waitsFor().isEmpty() && matches(leak.waitsFor()) : matches(leak.name());
    }

    boolean matches(String key) {
        String name = bytes(key);
        if (name.isEmpty()) { // KEYS takes no other pattern for it, not even **
            return Arrays.asList(patterns).contains("") || Arrays.asList(patterns).contains("*");
        }
        return Arrays.stream(patterns).anyMatch(pattern -> matches(pattern, name));
    }

    /** Returns a text with a character for each byte of its UTF-8. */
    private static String bytes(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private static boolean matches(String pattern, String name) {
        int p = 0;
        int n = 0;
        int star = -1; // behind the last * of the pattern
        int retry = 0; // where in the name the part behind it is tried next
        while (n < name.length() || p < pattern.length()) {
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = ++p;
                retry = n;
                continue;
            }
            int end = n < name.length() && p < pattern.length() ? matchOne(pattern, p, name.charAt(n)) : -1;
            if (end >= 0) {
                p = end;
                n++;
            } else if (star >= 0 && retry < name.length()) {
                n = ++retry;
                p = star;
            } else {
                return false;
            }
        }
        return true;
    }

    /** Returns where the pattern goes on behind the element for one character. -1: it is for another one. */
    private static int matchOne(String pattern, int at, char c) {
        char first = pattern.charAt(at);
        if (first == '?') {
            return at + 1;
        }
        if (first == '[') {
            return matchSet(pattern, at + 1, c);
        }
        int literal = first == '\\' && at + 1 < pattern.length() ? at + 1 : at;
        return pattern.charAt(literal) == c ? literal + 1 : -1;
    }

    /** The same for a set. The bytes of its ranges have signs, as in Redis: 0x80 is less than 0. */
    private static int matchSet(String pattern, int at, char c) {
        int end = pattern.length();
        int p = at;
        boolean not = p < end && pattern.charAt(p) == '^';
        if (not) {
            p++;
        }
        boolean found = false;
        while (p < end && pattern.charAt(p) != ']') {
            char low = pattern.charAt(p);
            char high = low;
            if (low == '\\' && p + 1 < end) {
                low = pattern.charAt(++p);
                high = low;
            } else if (p + 2 < end && pattern.charAt(p + 1) == '-') {
                p += 2;
                high = pattern.charAt(p);
            }
            found |= Math.min((byte) low, (byte) high) <= (byte) c && (byte) c <= Math.max((byte) low, (byte) high);
            p++;
        }
        return found == not ? -1 : Math.min(p + 1, end); // a set without an end reaches to the pattern's
    }
}
