package io.github.lockredis.server;

import java.util.List;
import java.util.Objects;

/**
 * What {@link Match} and {@link MessageMatch} have in common: which client's requests or messages a fault hits, and how
 * many. A match may be used for several faults, by one thread. A method that is called twice has its last value.
 *
 * @param <M> the match itself
 */
public abstract class FaultMatch<M extends FaultMatch<M>> {
    final FaultOptions options = new FaultOptions();

    FaultMatch() {
    }

    /** Returns this match. */
    abstract M self();

    /**
     * Selects the requests of clients with a name, or the messages to them, as CLIENT SETNAME and Redisson's
     * setClientName set it. Digits also select the client with this id.
     *
     * @throws IllegalArgumentException if the name is empty, or has more than 4096 bytes
     */
    public M client(String name) {
        Objects.requireNonNull(name, "client(null): give the name of a client, or leave the call out");
        options.text("CLIENT", "client", name);
        return self();
    }

    /**
     * Selects the requests of one connection, or the messages to it, by its id, as CLIENT ID replies it.
     *
     * @throws IllegalArgumentException if the id is less than 1
     */
    public M client(long id) {
        options.count("CLIENT", "client", id);
        return self();
    }

    /**
     * Sets the first request or message to hit of those that fit, counted from 1. The count begins when the fault is
     * set. The default is 1.
     *
     * @throws IllegalArgumentException if n is less than 1
     */
    public M nth(int n) {
        options.count("NTH", "nth", n);
        return self();
    }

    /**
     * Sets how many requests or messages are hit, from the {@link #nth} on. The default is 1.
     *
     * @throws IllegalArgumentException if n is less than 1
     */
    public M times(int n) {
        options.count("TIMES", "times", n);
        return self();
    }

    /** Lets the fault hit all from the {@link #nth} on, until it ends. It replaces {@link #times}. */
    public M always() {
        options.set("TIMES", "ALWAYS");
        return self();
    }

    List<String> words() {
        return options.words();
    }

    /** Returns the conditions as FAULT.ADD has them. */
    @Override
    public String toString() {
        return getClass().getSimpleName() + words();
    }
}
