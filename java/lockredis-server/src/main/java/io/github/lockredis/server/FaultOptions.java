package io.github.lockredis.server;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The options of a FAULT.ADD. An option that is set again has its last value. */
final class FaultOptions {
    private static final int LONGEST_TEXT = 4096; // bytes, the server's own limit
    private static final Duration LONGEST = Duration.ofDays(365);

    private final Map<String, List<String>> options = new LinkedHashMap<>();

    void set(String option, String... values) {
        options.put(option, Arrays.asList(values));
    }

    /** Sets an option to a text that the caller of a method has given. */
    void text(String option, String method, String value) {
        set(option, requireText(method, value));
    }

    /** Sets an option to a number that counts from 1. */
    void count(String option, String method, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(method + " " + value + " is less than 1");
        }
        set(option, Long.toString(value));
    }

    /** Returns the options and their values, in the order of FAULT.ADD. */
    List<String> words() {
        List<String> words = new ArrayList<>();
        options.forEach((option, values) -> {
            words.add(option);
            words.addAll(values);
        });
        return words;
    }

    /** Returns a text that is neither empty nor too long. */
    static String requireText(String method, String value) {
        if (value.isEmpty()) {
            throw new IllegalArgumentException(method + "(\"\"): the text is empty");
        }
        int bytes = value.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > LONGEST_TEXT) {
            throw new IllegalArgumentException(method + ": " + bytes + " bytes are too many, " + LONGEST_TEXT
                    + " are possible");
        }
        return value;
    }

    /** Returns a time in milliseconds. */
    static String millis(String method, Duration time) {
        Objects.requireNonNull(time, method + "(…, null): give a time");
        if (time.compareTo(Duration.ofMillis(1)) < 0 || time.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(method + " " + time + " is not in 1 ms to 365 days");
        }
        return Long.toString(time.toMillis());
    }
}
