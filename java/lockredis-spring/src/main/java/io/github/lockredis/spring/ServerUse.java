package io.github.lockredis.spring;

import io.github.lockredis.server.EndWatch;
import io.github.lockredis.server.LeakCheck;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.ServerState;

/** What the tests do with a context's server: how many run, and what each has left behind. */
final class ServerUse {
    /** The name of the bean for the topology. */
    static final String TOPOLOGY = "lockredisTopology";
    /** The name of the bean for the server. */
    static final String SERVER = "lockredisServer";
    /** The name of the bean of this class. */
    static final String BEAN = "io.github.lockredis.spring.ServerUse";

    private final LockredisServer server;
    private final EndWatch ends;
    private int running; // guarded by this
    private long begun; // how many tests have begun; guarded by this

    ServerUse(LockredisServer server) {
        this.server = server;
        this.ends = new EndWatch(server);
    }

    /** Returns the text about an end of the process that was noticed while no test ran, or null. */
    String endOutside() {
        return ends.outside();
    }

    /**
     * Begins a test. Starts the server again if the test before it has stopped it.
     *
     * @param flush whether to delete all data
     * @param leaks whether {@link Running#leaks} looks for leaks
     * @param dataKeys patterns of keys that are data
     */
    synchronized Running begin(boolean flush, boolean leaks, String... dataKeys) {
        requireAlone(flush);
        running++;
        begun++;
        Running test = new Running(flush);
        try {
            LeakCheck.prepare(server, flush);
            test.check = leaks ? beginCheck().dataKeys(dataKeys) : null;
            ends.begin(test);
        } catch (RuntimeException e) {
            test.end();
            throw e;
        }
        return test;
    }

    /** Prepares the server for a class: starts it if it is stopped, and deletes all data. */
    synchronized void beginClass() {
        requireAlone(true);
        LeakCheck.prepare(server, true);
    }

    private void requireAlone(boolean flush) {
        if (flush && running > 0) {
            throw new IllegalStateException("@AutoConfigureLockredis: another test runs on this"
                    + " server, and a flush would delete its data. Let the tests of a context"
                    + " run one after the other, or set flush = FlushMode.NEVER. Leaks are"
                    + " checked after tests that ran alone only");
        }
    }

    /**
     * Begins a check for held locks and permits, and owners in queues. Subscriptions and blocked
     * connections do not count: they belong to the context's beans, which outlive a test. Nevertheless
     * {@link Running#leaks} wakes waiters for locks that subscribed in a failed test.
     */
    private LeakCheck beginCheck() {
        return LeakCheck.begin(server, leak -> !leak.owner().isEmpty()).allowTasks();
    }

    /** A test that runs on the server. */
    final class Running {
        private final boolean alone;
        private final long number;
        private final boolean flush;
        private LeakCheck check; // null: leaks are allowed
        private boolean described; // the failure has the server's state. Used by the test's thread only

        Running(boolean flush) {
            this.flush = flush;
            alone = running == 1;
            number = begun;
        }

        /** Ends the test. */
        void end() {
            synchronized (ServerUse.this) {
                running--;
            }
        }

        /**
         * Returns the text about what was acquired in the test and is still held, or null. It is null
         * if another test ran at the same time, for then the test is unknown. It is null too if the
         * server does not run, and if leaks are allowed. If the test began with a flush, the leaks end, so
         * that a waiter does not get its lock in the next test. A test that begins now waits: the flush
         * would delete its data.
         */
        String leaks() {
            synchronized (ServerUse.this) {
                return check == null || !alone || begun != number ? null : check.end(flush);
            }
        }

        /** Adds the server's state to the test's failure, once. */
        void describe(Throwable failure) {
            if (!described) {
                described = true;
                ServerState.addTo(failure, server);
            }
        }

        /** Returns the text about an end of the process while the test ran, or null. */
        String unexpectedEnd(String name) {
            return ends.end(this, name);
        }
    }
}
