package io.github.lockredis.server;

import java.time.Duration;
import java.util.Optional;

/** What a client has left behind: a lock, a permit, a waiter or a subscription. */
public final class Leak {
    private final Fields fields;

    Leak(Fields fields) {
        this.fields = fields;
    }

    /** Returns what was left: lock, permit, waiter or subscription. A later server may have other words. */
    public String type() {
        return fields.text("type");
    }

    /** Returns the name of the lock or the semaphore, the key that a client waits for, or the channel. */
    public String name() {
        return fields.text("name");
    }

    /** Returns the number of the database. -1: it is in none. */
    public int database() {
        return (int) fields.number("db");
    }

    /**
     * Returns the owner, or the permit's id. Redisson's owner is the client's UUID, a colon and the
     * thread's id. It is "" for a client in a blocking command and for a subscription.
     */
    public String owner() {
        return fields.text("owner");
    }

    /** Returns the name of the lock, the semaphore or the latch to whose release the client is subscribed. */
    String waitsFor() {
        return fields.text("waits-for");
    }

    /**
     * Returns the kind of a lock and the mode of its holder, in the words of LOCK.LIST: "read-write read". Of a
     * subscription to a release it is the kind of what is released, of others "".
     */
    String kind() {
        return (fields.text("kind") + " " + fields.text("mode")).trim();
    }

    /** Returns how often the owner has acquired and not released it. -1: it holds nothing. */
    public int holds() {
        return (int) fields.number("holds");
    }

    /** Returns how long the owner has held it, or has waited. Empty: unknown. */
    public Optional<Duration> heldFor() {
        return fields.millis("held-ms");
    }

    /** Returns the time until it expires. Empty: it does not expire. */
    public Optional<Duration> ttl() {
        return fields.millis("ttl");
    }

    /** Reports whether it is a row of {@link History}: the lock may be free now. */
    boolean isHistory() {
        return type().equals("acquired");
    }

    /** Reports whether it is a client in a blocking command. */
    boolean isBlocked() {
        return type().equals("waiter") && owner().isEmpty();
    }

    /** Returns how often the owner has acquired the lock, of a row of {@link History}. */
    long times() {
        return fields.number("times");
    }

    /** Returns the client that left it. */
    public ClientInfo client() {
        return new ClientInfo(fields);
    }

    /** Returns the leak as a sentence. */
    public String text() {
        return fields.text("text");
    }

    /**
     * Reports whether it may be data that looks like a lock. A lock of Redisson expires, and its owner has a
     * thread's id.
     */
    boolean mayBeData() {
        return type().equals("lock") && (!ttl().isPresent() || !Owners.isThread(owner()));
    }

    /** Reports whether it is a leak. A subscription to the channel of a free lock is none. */
    boolean counts() {
        return fields.number("counts") != 0; // -1, without ALL: all count
    }

    /** Returns {@link #text}. */
    @Override
    public String toString() {
        return text();
    }
}
