package io.github.lockredis.server;

import java.util.ArrayList;
import java.util.List;

/** Splits a line of redis.conf into words, which may be in single or double quotes. */
final class Words {
    private final String line;
    private int at;

    private Words(String line) {
        this.line = line;
    }

    /**
     * Returns the words of a line.
     *
     * @throws IllegalArgumentException if a quote has no end
     */
    static List<String> of(String line) {
        Words words = new Words(line);
        List<String> found = new ArrayList<>();
        while (words.skipBlanks()) {
            found.add(words.next());
        }
        return found;
    }

    private boolean skipBlanks() {
        while (at < line.length() && Character.isWhitespace(line.charAt(at))) {
            at++;
        }
        return at < line.length();
    }

    private String next() {
        char quote = line.charAt(at);
        boolean quoted = quote == '"' || quote == '\'';
        StringBuilder word = new StringBuilder();
        if (quoted) {
            at++;
        }
        for (; at < line.length(); at++) {
            char c = line.charAt(at);
            if (quoted ? c == quote : Character.isWhitespace(c)) {
                at++;
                return word.toString();
            }
            if (quoted && c == '\\' && at + 1 < line.length()) {
                c = line.charAt(++at);
            }
            word.append(c);
        }
        if (quoted) {
            throw new IllegalArgumentException("directive \"" + line + "\": a quote has no end");
        }
        return word.toString();
    }
}
