package io.github.lockredis.server;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A thread that waits for a lock, or a client that is subscribed to the release. */
public final class LockWaiter {
    private final String owner;
    private final String kind;
    private final String mode;
    private final Optional<Instant> since;
    private final long asks;
    private final boolean waiting;
    private final ClientInfo client;

    private LockWaiter(Fields fields) {
        owner = fields.text("owner");
        kind = fields.text("kind");
        mode = fields.text("mode");
        long millis = fields.number("since");
        since = millis < 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(millis));
        asks = fields.number("asks");
        waiting = fields.number("waits") == 1;
        client = new ClientInfo(fields);
    }

    static List<LockWaiter> list(Object reply) {
        List<LockWaiter> waiters = new ArrayList<>();
        for (Fields row : Fields.list(reply)) {
            waiters.add(new LockWaiter(row));
        }
        return Collections.unmodifiableList(waiters);
    }

    /**
     * Returns the owner: Redisson's client id, a colon and the thread's id. "": only a client is known, as for a
     * semaphore, a permit and a latch.
     */
    public String owner() {
        return owner;
    }

    /** Returns the id of the thread, as {@link Thread#getId} tells it. Empty: the owner is not known. */
    public OptionalLong threadId() {
        long id = Owners.threadOf(owner);
        return id < 0 ? OptionalLong.empty() : OptionalLong.of(id);
    }

    /**
     * Returns the kind of the lock, in the server's words, as {@link Lock#kind} does. A spin lock and a part of a
     * multi-lock look like a lock.
     */
    public String kind() {
        return kind;
    }

    /** Returns what a thread waits for at a read-write lock: read or write. "" for other kinds. */
    public String mode() {
        return mode;
    }

    /**
     * Returns when the thread was refused first, or the client subscribed, by the server's clock. Empty: unknown.
     */
    public Optional<Instant> since() {
        return since;
    }

    /** Returns how often the thread was refused in a row. -1: unknown. */
    public long asks() {
        return asks;
    }

    /**
     * Returns whether it waits. False: the thread is about to ask again, as it was refused once, or not since its
     * client subscribed to the release.
     */
    public boolean isWaiting() {
        return waiting;
    }

    /** Returns the client's connection that asked last, or that is subscribed. */
    public ClientInfo client() {
        return client;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(owner.isEmpty() ? client.toString() : Text.printable(owner));
        text.append(" waits for a ").append(kind);
        if (!mode.isEmpty()) {
            text.append(" to ").append(mode);
        }
        since.ifPresent(time -> text.append(" since ").append(time));
        if (asks >= 0) {
            text.append(", asked ").append(asks).append(asks == 1 ? " time" : " times");
        }
        return owner.isEmpty() || !client.isKnown() ? text.toString() : text.append(", ").append(client).toString();
    }
}
