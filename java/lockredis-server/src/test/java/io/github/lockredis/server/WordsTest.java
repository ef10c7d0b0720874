package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class WordsTest {
    @Test
    void blanksSeparateWords() {
        assertEquals("[]", Words.of("  ").toString());
        assertEquals("[maxmemory, 10mb]", Words.of(" maxmemory\t 10mb ").toString());
    }

    @Test
    void quotedWordsMayHaveBlanks() {
        assertEquals("[a, b c, d \"e\", , f\"g]",
                Words.of("a \"b c\" 'd \"e\"' \"\" f\"g").toString());
        assertEquals("[a, b \" c]", Words.of("a \"b \\\" c\"").toString());
    }
}
