package io.github.lockredis.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A lock that is held, or that clients wait for, as the server saw it at one moment. Semaphores and latches are
 * among the locks.
 */
public final class Lock {
    private final String name;
    private final int database;
    private final String kind;
    private final Optional<Duration> ttl;
    private final List<Holder> holders;
    private final List<Waiter> queue;

    Lock(Fields fields) {
        name = fields.text("name");
        database = (int) fields.number("db");
        kind = fields.text("kind");
        ttl = fields.millis("ttl");
        List<Holder> held = new ArrayList<>();
        for (Fields holder : fields.fields("holders")) {
            held.add(new Holder(holder));
        }
        holders = Collections.unmodifiableList(held);
        List<Waiter> waiting = new ArrayList<>();
        for (Fields waiter : fields.fields("queue")) {
            waiting.add(new Waiter(waiter));
        }
        queue = Collections.unmodifiableList(waiting);
    }

    /** Returns the locks in a reply of LOCK.LIST. */
    static List<Lock> list(Object reply) {
        List<Lock> locks = new ArrayList<>();
        Fields.list(reply).forEach(row -> locks.add(new Lock(row)));
        return locks;
    }

    /** Returns the name: the key in Redis. */
    public String name() {
        return name;
    }

    /** Returns the number of the database. */
    public int database() {
        return database;
    }

    /**
     * Returns the kind, in the server's words. Today they are lock, fair, fenced, read-write, multi for
     * Redisson's {@code getMultiLock(group, values)}, set for a lock that SET with NX made, permit-semaphore,
     * semaphore and count-down-latch; a later server may have others. A spin lock and a part of another
     * multi-lock look like a lock.
     */
    public String kind() {
        return kind;
    }

    /** Returns the time until the key expires. Empty: it does not expire. */
    public Optional<Duration> ttl() {
        return ttl;
    }

    /**
     * Returns the holders: several for a lock that readers share, and the permits of a permit-semaphore. It is
     * empty while only waiters are there, and for a semaphore and a latch, which do not record owners.
     */
    public List<Holder> holders() {
        return holders;
    }

    /**
     * Returns the waiters: first the owners in a fair lock's queue, the next one first; then the clients that are
     * subscribed to the release, the oldest connection first. The waiters of a spin lock are not seen.
     */
    public List<Waiter> queue() {
        return queue;
    }

    /** Returns the lock without its holders and waiters, for a line of a text. */
    String head() {
        StringBuilder text = new StringBuilder(kind).append(' ').append(Text.printable(name));
        if (database != 0) {
            text.append(" in database ").append(database);
        }
        ttl.ifPresent(left -> text.append(", ttl ").append(left.toMillis()).append(" ms"));
        return text.toString();
    }

    /** Returns one line with the lock, its holders and its waiters. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(head());
        for (Holder holder : holders) {
            text.append(", held by ").append(holder);
        }
        for (Waiter waiter : queue) {
            text.append(waiter.isQueued() ? ", queued " : ", waited for by ").append(waiter);
        }
        return text.toString();
    }

    /** One holder of a lock, or one permit. */
    public static final class Holder {
        private final String owner;
        private final String mode;
        private final int holds;
        private final Optional<Duration> ttl;
        private final Optional<Duration> heldFor;
        private final ClientInfo client;

        Holder(Fields fields) {
            owner = fields.text("owner");
            mode = fields.text("mode");
            holds = (int) fields.number("holds");
            ttl = fields.millis("ttl");
            heldFor = fields.millis("held-ms");
            client = new ClientInfo(fields);
        }

        /**
         * Returns the owner. Redisson's is the client's UUID, a colon and the thread's id. Of a lock that SET
         * made it is the value, of a permit-semaphore the permit's id.
         */
        public String owner() {
            return owner;
        }

        /** Returns how a read-write lock is held, in the server's words: read or write. "" for other kinds. */
        public String mode() {
            return mode;
        }

        /** Returns how often the owner has acquired the lock and not released it. 1 for a permit. */
        public int holds() {
            return holds;
        }

        /** Returns the time until this hold ends. Empty: it does not end by itself. */
        public Optional<Duration> ttl() {
            return ttl;
        }

        /** Returns how long the owner has held the lock. Empty: unknown. */
        public Optional<Duration> heldFor() {
            return heldFor;
        }

        /** Returns the client that acquired the lock last. It may have closed its connection. */
        public ClientInfo client() {
            return client;
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(Text.printable(owner)).append(" (").append(holds)
                    .append(holds == 1 ? " hold" : " holds");
            if (!mode.isEmpty()) {
                text.append(", ").append(mode);
            }
            heldFor.ifPresent(time -> text.append(", for ").append(time.toMillis()).append(" ms"));
            return text.append(client.isKnown() ? ", " + client : "").append(')').toString();
        }
    }

    /** An owner in the queue of a fair lock, or a client that is subscribed to the release. */
    public static final class Waiter {
        private final String owner;
        private final Optional<Duration> waitsFor;
        private final ClientInfo client;

        Waiter(Fields fields) {
            owner = fields.text("owner");
            waitsFor = fields.millis("waits-ms");
            client = new ClientInfo(fields);
        }

        /** Returns the owner in the queue. "" for a subscribed client: it may wait for any number of threads. */
        public String owner() {
            return owner;
        }

        /** Returns how long the owner or the client has waited. Empty: unknown. */
        public Optional<Duration> waitsFor() {
            return waitsFor;
        }

        /** Returns the client that is subscribed, or that queued the owner. */
        public ClientInfo client() {
            return client;
        }

        /** Reports whether it is an owner in a queue. */
        private boolean isQueued() {
            return !owner.isEmpty();
        }

        @Override
        public String toString() {
            if (!isQueued()) {
                return client.toString();
            }
            String printable = Text.printable(owner);
            return client.isKnown() ? printable + " (" + client + ")" : printable;
        }
    }
}
