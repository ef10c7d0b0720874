package io.github.lockredis.server;

/**
 * Tests of characters on the way of a start. The first regular expression and the first lambda of a
 * JVM cost milliseconds each, so there is none on this way.
 */
final class Text {
    private Text() {
    }

    /** Reports whether a text consists of ASCII letters, digits and other characters only. */
    static boolean isPlain(String text, String others) {
        for (int i = 0; i < text.length(); i++) {
            if (!isPlain(text.charAt(i), others)) {
                return false;
            }
        }
        return true;
    }

    /** Returns a text with a replacement for each character that is not plain. */
    static String plain(String text, String others, String replacement) {
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (isPlain(c, others)) {
                plain.append(c);
            } else {
                plain.append(replacement);
            }
        }
        return plain.toString();
    }

    private static boolean isPlain(char c, String others) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
                || others.indexOf(c) >= 0;
    }
}
