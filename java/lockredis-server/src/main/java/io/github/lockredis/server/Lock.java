package io.github.lockredis.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** A lock that is held, or that clients wait for, as the server saw it at one moment. */
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

    /** Returns the name: the key in Redis. */
    public String name() {
        return name;
    }

    /** Returns the number of the database. */
    public int database() {
        return database;
    }

    /**
     * Returns the kind: lock, fair, fenced, read-write, or set for a lock that SET with NX made. A
     * spin lock and a part of a multi-lock look like a lock.
     */
    public String kind() {
        return kind;
    }

    /** Returns the time until the key expires. Empty: it does not expire. */
    public Optional<Duration> ttl() {
        return ttl;
    }

    /** Returns the holders: several for a lock that readers share. */
    public List<Holder> holders() {
        return holders;
    }

    /** Returns the waiters of a fair lock, the next one first. */
    public List<Waiter> queue() {
        return queue;
    }

    /** Returns one line with the lock, its holders and its queue. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(kind).append(' ').append(name);
        if (database != 0) {
            text.append(" in database ").append(database);
        }
        ttl.ifPresent(left -> text.append(", ttl ").append(left.toMillis()).append(" ms"));
        for (Holder holder : holders) {
            text.append(", held by ").append(holder);
        }
        for (Waiter waiter : queue) {
            text.append(", queued ").append(waiter);
        }
        return text.toString();
    }

    /** One holder of a lock. */
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

        /** Returns the owner. Redisson's is the client's UUID, a colon and the thread's id. */
        public String owner() {
            return owner;
        }

        /** Returns the mode of a read-write lock's holder: read or write. "" for other kinds. */
        public String mode() {
            return mode;
        }

        /** Returns how often the owner has acquired the lock and not released it. */
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

        /** Returns the client that acquired the lock. */
        public ClientInfo client() {
            return client;
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(owner).append(" (").append(holds)
                    .append(holds == 1 ? " hold" : " holds");
            if (!mode.isEmpty()) {
                text.append(", ").append(mode);
            }
            heldFor.ifPresent(time -> text.append(", for ").append(time.toMillis()).append(" ms"));
            return text.append(client.isKnown() ? ", " + client : "").append(')').toString();
        }
    }

    /** One waiter in the queue of a fair lock. */
    public static final class Waiter {
        private final String owner;
        private final Optional<Duration> waitsFor;
        private final ClientInfo client;

        Waiter(Fields fields) {
            owner = fields.text("owner");
            waitsFor = fields.millis("waits-ms");
            client = new ClientInfo(fields);
        }

        /** Returns the owner that the lock is for. */
        public String owner() {
            return owner;
        }

        /** Returns how long the owner has waited. Empty: unknown. */
        public Optional<Duration> waitsFor() {
            return waitsFor;
        }

        /** Returns the client that queued the owner. */
        public ClientInfo client() {
            return client;
        }

        @Override
        public String toString() {
            return client.isKnown() ? owner + " (" + client + ")" : owner;
        }
    }
}
