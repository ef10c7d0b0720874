package io.github.lockredis.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Selects connections of clients, for {@link Faults#cut} and {@link Faults#silence}. {@code new Connections()} selects
 * all. It may be used several times, by one thread.
 */
public final class Connections {
    private String client;
    private boolean subscribed;

    /** Selects all connections. */
    public Connections() {
    }

    /**
     * Selects the connections with a name, as CLIENT SETNAME and Redisson's setClientName set it.
     *
     * @throws IllegalArgumentException if the name is empty, or has more than 4096 bytes
     */
    public Connections client(String name) {
        Objects.requireNonNull(name, "client(null): give the name of a client, or leave the call out");
        client = FaultOptions.requireText("client", name);
        return this;
    }

    /** Selects only connections that are subscribed to a channel or a pattern. */
    public Connections subscribed() {
        subscribed = true;
        return this;
    }

    /** Returns a command for the kit's port about the connections. */
    String[] command(String verb) {
        List<String> words = new ArrayList<>();
        words.add("CONTROL");
        words.add(verb);
        if (client != null) {
            words.add("CLIENT");
            words.add(client);
        }
        if (subscribed) {
            words.add("SUBSCRIBED");
        }
        return words.toArray(new String[0]);
    }
}
