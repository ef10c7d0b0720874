package io.github.lockredis.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A map in a reply: in RESP2 an array of names and values. A name that is unknown here is ignored. */
final class Fields {
    private final Map<String, Object> values = new HashMap<>();

    Fields(Object flat) {
        List<?> array = flat instanceof List ? (List<?>) flat : Collections.emptyList();
        for (int i = 0; i + 1 < array.size(); i += 2) {
            values.put(String.valueOf(array.get(i)), array.get(i + 1));
        }
    }

    /** Returns the maps in a reply that is an array of maps. */
    static List<Fields> list(Object array) {
        List<Fields> list = new ArrayList<>();
        for (Object element : array instanceof List ? (List<?>) array : Collections.emptyList()) {
            list.add(new Fields(element));
        }
        return list;
    }

    /** Returns the array of maps in a field, empty without it. */
    List<Fields> fields(String name) {
        return list(values.get(name));
    }

    /** Returns the array of texts in a field, empty without it. */
    List<String> texts(String name) {
        List<String> texts = new ArrayList<>();
        Object array = values.get(name);
        for (Object element : array instanceof List ? (List<?>) array : Collections.emptyList()) {
            texts.add(String.valueOf(element));
        }
        return texts;
    }

    /** Returns a text, "" without the field. */
    String text(String name) {
        Object value = values.get(name);
        return value == null ? "" : value.toString();
    }

    /** Returns a number, -1 without the field. */
    long number(String name) {
        Object value = values.get(name);
        try {
            return value == null ? -1 : Long.parseLong(value.toString());
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** Returns a number of milliseconds as a duration. It is empty for -1: none, or unknown. */
    Optional<Duration> millis(String name) {
        long millis = number(name);
        return millis < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(millis));
    }
}
