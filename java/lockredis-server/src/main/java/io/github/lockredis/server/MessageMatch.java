package io.github.lockredis.server;

import java.util.List;
import java.util.Objects;

/**
 * Selects the pub/sub messages that a fault hits: {@code new MessageMatch().channel("redisson_lock__channel:*")}.
 * Each delivery to a subscriber is a message of its own. A message must fit all conditions. Without {@link #nth},
 * {@link #times} and {@link #always} a fault hits the next message that fits, and no other.
 *
 * <p>A match may be used for several faults, by one thread. A method that is called twice has its last value.
 */
public final class MessageMatch {
    private final FaultOptions options = new FaultOptions();

    /** Makes a match that fits every message. */
    public MessageMatch() {
    }

    /**
     * Selects the messages of channels that a pattern as in PSUBSCRIBE fits.
     *
     * @throws IllegalArgumentException if the pattern is empty, or has more than 4096 bytes
     */
    public MessageMatch channel(String pattern) {
        Objects.requireNonNull(pattern, "channel(null): give a pattern of channels, or leave the call out");
        options.text("CHANNEL", "channel", pattern);
        return this;
    }

    /**
     * Selects messages to subscribers with a name, as {@link Match#client(String)} does.
     *
     * @throws IllegalArgumentException if the name is empty, or has more than 4096 bytes
     */
    public MessageMatch client(String name) {
        Objects.requireNonNull(name, "client(null): give the name of a subscriber, or leave the call out");
        options.text("CLIENT", "client", name);
        return this;
    }

    /**
     * Selects messages to one connection by its id, as CLIENT ID replies it.
     *
     * @throws IllegalArgumentException if the id is less than 1
     */
    public MessageMatch client(long id) {
        options.count("CLIENT", "client", id);
        return this;
    }

    /**
     * Sets the first message to hit of those that fit, counted from 1. The default is 1.
     *
     * @throws IllegalArgumentException if n is less than 1
     */
    public MessageMatch nth(int n) {
        options.count("NTH", "nth", n);
        return this;
    }

    /**
     * Sets how many messages are hit, from the {@link #nth} on. The default is 1.
     *
     * @throws IllegalArgumentException if n is less than 1
     */
    public MessageMatch times(int n) {
        options.count("TIMES", "times", n);
        return this;
    }

    /** Lets the fault hit all messages from the {@link #nth} on, until it ends. It replaces {@link #times}. */
    public MessageMatch always() {
        options.set("TIMES", "ALWAYS");
        return this;
    }

    List<String> words() {
        return options.words();
    }

    /** Returns the conditions as FAULT.ADD has them. */
    @Override
    public String toString() {
        return "MessageMatch" + words();
    }
}
