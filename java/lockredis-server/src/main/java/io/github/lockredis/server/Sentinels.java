package io.github.lockredis.server;

import java.time.Duration;

/** The Sentinels that start in the process of a server. It is immutable. */
final class Sentinels {
    final int count;
    /** The port of the first one. 0: all have free ports. */
    final int port;
    final String masterName;
    /** The Sentinels' own password, or null. */
    final String password;
    /** How long the server may be silent. Null: the default of a Sentinel, 30 seconds. */
    final Duration downAfter;
    /** How many Sentinels must agree that the server is down. 0: the majority. */
    final int quorum;

    Sentinels(LockredisTopology.Builder from) {
        count = from.sentinels;
        port = from.sentinelPort;
        masterName = from.masterName;
        password = from.sentinelPassword;
        downAfter = from.downAfter;
        quorum = from.quorum;
    }

    /** Returns the directive that starts them, as a line. */
    String line() {
        StringBuilder line = new StringBuilder("topology sentinel:1x").append(count);
        append(line, "port", port == 0 ? "auto" : port);
        append(line, "name", masterName);
        append(line, "requirepass", password);
        append(line, "down-after-milliseconds", downAfter == null ? null : downAfter.toMillis());
        append(line, "quorum", quorum == 0 ? null : quorum);
        return line.append('\n').toString();
    }

    private static void append(StringBuilder line, String option, Object value) {
        if (value != null) {
            line.append(' ').append(option).append(' ').append(ConfigText.quote(value.toString()));
        }
    }
}
