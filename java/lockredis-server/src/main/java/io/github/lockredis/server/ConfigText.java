package io.github.lockredis.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Lines of a redis.conf. */
final class ConfigText {
    /**
     * The directives that bind a redis.conf to its machine: where a server listens, runs, logs and keeps
     * its data. A server that detaches itself cannot be watched. One in production's dir would read its
     * dump.rdb, and write it. One that has no replicas, and must have some, refuses writes.
     */
    private static final List<String> MACHINE = Arrays.asList("port", "tls-port", "bind", "unixsocket",
            "unixsocketperm", "daemonize", "supervised", "syslog-enabled", "pidfile", "port-file",
            "logfile", "dir", "dbfilename", "save", "replicaof", "slaveof", "min-replicas-to-write",
            "min-replicas-max-lag", "min-slaves-to-write", "min-slaves-max-lag");

    private ConfigText() {
    }

    /** Returns a directive as a line, with quotes where its values need them. */
    static String line(List<String> directive) {
        StringBuilder line = new StringBuilder(directive.get(0));
        for (String value : directive.subList(1, directive.size())) {
            line.append(' ').append(quote(value));
        }
        return line.append('\n').toString();
    }

    static String quote(String value) {
        if (!value.isEmpty() && Text.isPlain(value, "_./:@%+,*=~-")) {
            return value;
        }
        StringBuilder quoted = new StringBuilder("\"");
        for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
            if (b == '"' || b == '\\') {
                quoted.append('\\').append((char) b);
            } else if (b >= ' ' && b < 127) {
                quoted.append((char) b);
            } else {
                quoted.append(String.format("\\x%02x", b & 0xff));
            }
        }
        return quoted.append('"').toString();
    }

    /**
     * Returns the bytes of a redis.conf without the lines that bind it to its machine. They are empty
     * lines: the numbers of the others stay. Null: no file, no bytes.
     *
     * @throws LockredisException if the file cannot be read
     */
    static byte[] portable(Path file) {
        if (file == null) {
            return new byte[0];
        }
        StringBuilder text = new StringBuilder();
        try {
            String all = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
            for (String line : all.split("\n")) {
                String name = line.trim().split("\\s+", 2)[0].toLowerCase(Locale.ROOT);
                text.append(MACHINE.contains(name) ? "" : line).append('\n');
            }
        } catch (IOException e) {
            throw new LockredisException("read the config file " + file + ": " + e, e);
        }
        return text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /**
     * Returns the rest of the last line for a directive in a redis.conf, without quotes, or null. It
     * does not follow include lines.
     */
    static String lastValue(Path file, String name) {
        if (file == null) {
            return null;
        }
        String value = null;
        try {
            for (String line : new String(Files.readAllBytes(file), StandardCharsets.UTF_8).split("\n")) {
                String[] parts = line.trim().split("\\s+", 2);
                if (parts.length == 2 && parts[0].equalsIgnoreCase(name)) {
                    value = parts[1].replaceAll("^([\"'])(.*)\\1$", "$2");
                }
            }
        } catch (IOException e) {
            return null; // the server names the file and the reason
        }
        return value;
    }

    /** Returns an address to connect to for the addresses of a bind directive. Null: the default. */
    static String host(String bind) {
        String first = null;
        for (String word : bind == null ? new String[0] : bind.trim().split("\\s+")) {
            String address = word.startsWith("-") ? word.substring(1) : word;
            if (address.equals("*") || address.equals("0.0.0.0") || address.equals("127.0.0.1")) {
                return "127.0.0.1";
            }
            if (first == null && !address.isEmpty()) {
                first = address.equals("::*") || address.equals("::") ? "::1" : address;
            }
        }
        return first == null ? "127.0.0.1" : first;
    }
}
