package io.github.lockredis.server;

import java.time.Duration;
import java.util.List;

/** The Sentinels that start beside a server, in a process of their own. It is immutable. */
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

    /**
     * Returns the directive that starts them, as a line.
     *
     * @param primary the server, as host:port
     * @param nodes the addresses that they had before, as host:port; empty at the first start
     */
    String line(String primary, List<String> nodes) {
        StringBuilder line = new StringBuilder("topology sentinel:1x").append(count);
        append(line, "primary", primary);
        append(line, "port", nodes.isEmpty() ? port == 0 ? "auto" : port : ports(nodes));
        append(line, "name", masterName);
        append(line, "requirepass", password);
        append(line, "down-after-milliseconds", downAfter == null ? null : downAfter.toMillis());
        append(line, "quorum", quorum == 0 ? null : quorum);
        return line.append('\n').toString();
    }

    private static String ports(List<String> nodes) {
        StringBuilder ports = new StringBuilder();
        for (String node : nodes) {
            ports.append(ports.length() == 0 ? "" : ",").append(node.substring(node.lastIndexOf(':') + 1));
        }
        return ports.toString();
    }

    private static void append(StringBuilder line, String option, Object value) {
        if (value != null) {
            line.append(' ').append(option).append(' ').append(ConfigText.quote(value.toString()));
        }
    }
}
