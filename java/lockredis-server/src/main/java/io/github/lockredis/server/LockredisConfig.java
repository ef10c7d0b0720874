package io.github.lockredis.server;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * What a server is started with. It is immutable, and equal to another one with equal values, so it
 * can be the key of a map of servers. {@link LockredisServer#builder()} makes one.
 */
public final class LockredisConfig {
    /** The longest argument of a client that has not logged in, in bytes: the server's limit. */
    private static final int LONGEST_PASSWORD = 16384;

    private final int port;
    private final String password;
    private final Path certificate;
    private final Path privateKey;
    private final Path configFile;
    private final Path executable;
    private final String snapshot;
    private final Duration startTimeout;
    private final List<List<String>> directives;

    LockredisConfig(LockredisServer.Builder from) {
        port = from.port;
        password = from.password;
        certificate = from.certificate;
        privateKey = from.privateKey;
        configFile = from.configFile;
        executable = from.executable;
        snapshot = from.snapshot;
        startTimeout = from.startTimeout;
        directives = Collections.unmodifiableList(new ArrayList<>(from.directives));
    }

    /** Returns a password. Fails if a client cannot send it. */
    static String requireShort(String method, String password) {
        int bytes = password.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > LONGEST_PASSWORD) {
            throw new IllegalArgumentException(method + ": " + bytes + " bytes are too many. A client can"
                    + " send " + LONGEST_PASSWORD + " before it has logged in");
        }
        return password;
    }

    /** Returns the port to listen on. 0 means a free one. */
    public int port() {
        return port;
    }

    /** Returns the password of {@link LockredisServer.Builder#password}, or null. */
    public String password() {
        return password;
    }

    /** Returns the server's certificate, a PEM file. Null means that the server has no TLS. */
    public Path certificate() {
        return certificate;
    }

    /** Returns the private key of the certificate, a PEM file. Null without TLS. */
    public Path privateKey() {
        return privateKey;
    }

    /** Returns the redis.conf, or null. */
    public Path configFile() {
        return configFile;
    }

    /** Returns the executable to start, or null for the one on the class path. */
    public Path executable() {
        return executable;
    }

    /** Returns the name of the RDB file that the server begins with, or null. */
    public String snapshot() {
        return snapshot;
    }

    /** Returns how long a start may take. */
    public Duration startTimeout() {
        return startTimeout;
    }

    /** Returns the directives in their order, each a name and its values. */
    public List<List<String>> directives() {
        return directives;
    }

    /** Returns the last value that a directive has here, or null. */
    String lastValue(String name) {
        String value = null;
        for (List<String> directive : directives) {
            if (directive.get(0).equalsIgnoreCase(name) && directive.size() > 1) {
                value = directive.get(1);
            }
        }
        return value;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LockredisConfig
                && Arrays.equals(values(), ((LockredisConfig) other).values());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(values());
    }

    private Object[] values() {
        return new Object[] {port, password, certificate, privateKey, configFile, executable,
            snapshot, startTimeout, directives};
    }

    /** Returns the values that are not the defaults. Passwords are left out. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("LockredisConfig[port=");
        text.append(port == 0 ? "auto" : Integer.toString(port));
        append(text, "configFile", configFile);
        append(text, "executable", executable);
        append(text, "certificate", certificate);
        append(text, "snapshot", snapshot);
        for (List<String> directive : directives) {
            String name = directive.get(0).toLowerCase(Locale.ROOT);
            append(text, name, name.contains("pass") ? "***" : shown(directive));
        }
        return text.append(password == null ? "]" : " password=***]").toString();
    }

    /** Returns the values of a directive. The passwords and hashes of a user are left out. */
    private static String shown(List<String> directive) {
        boolean user = directive.get(0).equalsIgnoreCase("user");
        StringBuilder text = new StringBuilder();
        for (String value : directive.subList(1, directive.size())) {
            boolean secret = user && value.matches("(?s)[><#!].*");
            text.append(text.length() == 0 ? "" : " ").append(secret ? value.charAt(0) + "***" : value);
        }
        return text.toString();
    }

    private static void append(StringBuilder text, String name, Object value) {
        if (!Objects.toString(value, "").isEmpty()) {
            text.append(' ').append(name).append('=').append(value);
        }
    }
}
