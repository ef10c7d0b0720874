package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;

import org.junit.jupiter.api.Test;

class DataKeysTest {
    private static final String[] PATTERNS = {"", "*", "**", "a*", "*a", "*a*b", "a*b*c", "?", "a?c", "??", "[a-c]", "[c-a]x",
        "[^a]*", "[^a-c]", "a\\*", "\\", "a\\", "[a\\]]", "[a", "[^", "[", "[]", "[a-]", "a[b-", "[\\a-c]", "é", "?é", "idem:*:[0-9]", "***",
        "?*", "[^é]*", "[a-é]", "[é-a]", "?[a-é]", "?[^a-é]", "?[¨-ª]", "?[z-\u0080]", "[¨-z]", "*[¿-é]"};
    private static final String[] KEYS = {"a", "b", "c", "x", "ab", "abc", "aab", "aXbYc", "a*", "a\\", "\\", "]", "-", "[",
        "ax", "bx", "é", "eé", "idem:order:7", "idem:7",
        "", "è", "ÿ"};

    @Test
    void aPatternMatchesAsInKeys() {
        try (LockredisServer server = LockredisServer.start()) {
            for (String key : KEYS) {
                server.command("SET", key, "data");
            }
            for (String pattern : PATTERNS) {
                List<?> found = (List<?>) server.command("KEYS", pattern);
                for (String key : KEYS) {
                    assertEquals(found.contains(key), new DataKeys(pattern).matches(key), pattern + " and " + key);
                }
            }
        }
    }
}
