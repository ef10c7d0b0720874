package io.github.lockredis.junit5;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.extension.ExtensionContext;

import io.github.lockredis.server.LeakCheck;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;

/**
 * A running server in a context's store. The store closes it. JUnit before 5.13 closes a
 * CloseableResource only, later versions ask for AutoCloseable.
 */
final class TestServer implements ExtensionContext.Store.CloseableResource, AutoCloseable {
    final LockredisTopology topology;
    private final LockredisServer server;
    private final Runnable close; // of the topology. Tests cannot call it
    private final Spec spec;
    private LeakCheck check; // guarded by this; of the test that runs now. Null: leaks are allowed
    private boolean shared; // guarded by this; tests have used it side by side
    private final List<String> between = new ArrayList<>(); // guarded by this; ends outside of tests
    private String last; // guarded by this; the last test that has ended. Null: none

    TestServer(Spec spec) {
        this.spec = spec;
        this.topology = spec.start();
        this.server = topology.server();
        this.close = topology.closeOnlyBy("JUnit");
        if (server.isAttached() && spec.flush) {
            server.flush(); // it is a real Redis, with the data of earlier tests
        }
        beginCheck();
    }

    private synchronized void beginCheck() {
        if (spec.leaks == LeakMode.FAIL) {
            check = LeakCheck.begin(server);
        }
    }

    /** Empties the server for the next test. Starts it again if a test has stopped it. */
    synchronized void beforeTest() {
        LeakCheck.prepare(server, spec.flush);
        noteEnd();
        beginCheck();
    }

    /** Notes that tests use the server side by side. Then it is checked once, at the end. */
    synchronized void share() {
        shared = true;
    }

    synchronized boolean isShared() {
        return shared;
    }

    /**
     * Returns the text about the leaks of the test that has ended, null without leaks.
     *
     * @param last whether the server ends now, so that it need not be clean again
     */
    synchronized String afterTest(boolean last) {
        return check == null ? null : check.end(!last && spec.flush);
    }

    /** Returns the text about an end of the process that a test did not ask for, or null. */
    synchronized String unexpectedEnd(String test) {
        last = test;
        return server.unexpectedEnd();
    }

    private void noteEnd() {
        String end = server.unexpectedEnd();
        if (end != null) {
            between.add((last == null ? "before the first test: " : "after the test " + last + ": ") + end);
        }
    }

    /**
     * Ends the server. A process that ended by itself between two tests is the failure of no test, so it
     * fails the context: the class, or the test that has a server of its own.
     */
    @Override
    public synchronized void close() {
        close.run();
        noteEnd();
        if (!between.isEmpty()) {
            throw new AssertionError(String.join("\n", between));
        }
    }
}
