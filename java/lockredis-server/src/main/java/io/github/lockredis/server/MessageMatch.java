package io.github.lockredis.server;

import java.util.Objects;

/**
 * Selects the pub/sub messages that a fault hits: {@code new MessageMatch().channel("redisson_lock__channel:*")}.
 * Each delivery to a subscriber is a message of its own. A message must fit all conditions. Without {@link #nth},
 * {@link #times} and {@link #always} a fault hits the next message that fits, and no other.
 */
public final class MessageMatch extends FaultMatch<MessageMatch> {
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

    @Override
    MessageMatch self() {
        return this;
    }
}
