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

    /**
     * Returns a text that moves no cursor and hides nothing in a terminal: control characters and invisible ones
     * become escapes, as in the server's own texts. The names of keys come from clients.
     */
    static String printable(String text) {
        StringBuilder printable = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\n' || c == '\r' || c == '\t') {
                printable.append('\\').append(c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
            } else if (isInvisible(c)) {
                printable.append(String.format(c < 0x80 ? "\\x%02x" : "\\u%04x", (int) c));
            } else {
                printable.append(c);
            }
        }
        return printable.toString();
    }

    private static boolean isInvisible(char c) {
        int type = Character.getType(c);
        return type == Character.CONTROL || type == Character.FORMAT || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR;
    }

    private static boolean isPlain(char c, String others) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
                || others.indexOf(c) >= 0;
    }
}
