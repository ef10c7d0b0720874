package io.github.lockredis.junit5;

import org.junit.jupiter.api.extension.ExtensionContext;

import io.github.lockredis.server.EndWatch;
import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakCheck;
import io.github.lockredis.server.LeakMode;
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
    private final boolean ofMethod;
    private LeakCheck check; // guarded by this; of the test that runs now. Null: leaks are allowed
    private LeakCheck ended; // guarded by this; of the test before, until lookAgain. Null: none
    private boolean shared; // guarded by this; tests have used it side by side
    private final EndWatch ends;

    /**
     * Starts a server.
     *
     * @param ofMethod whether one test has it for itself
     */
    TestServer(Spec spec, boolean ofMethod) {
        this.spec = spec;
        this.ofMethod = ofMethod;
        this.topology = spec.start();
        this.server = topology.server();
        this.close = topology.closeOnlyBy("JUnit");
        this.ends = new EndWatch(server);
        if (server.isAttached() && spec.flush != FlushMode.NEVER) {
            server.flush(); // it is a real Redis, with the data of earlier tests
        }
        beginCheck();
    }

    private synchronized void beginCheck() {
        if (spec.leaks == LeakMode.FAIL) {
            check = LeakCheck.begin(server).dataKeys(spec.dataKeys());
        }
    }

    /** Prepares the server for the first test of a nested class. */
    synchronized void beforeClass() {
        if (spec.flush == FlushMode.BEFORE_CLASS) {
            LeakCheck.prepare(server, true);
        }
    }

    /** Empties the server for the next test. Starts it again if a test has stopped it. */
    synchronized void beforeTest(Scope test) {
        if (spec.leaks == LeakMode.FAIL && spec.flush == FlushMode.BEFORE_EACH) {
            check = ends.beginEmpty(test).dataKeys(spec.dataKeys());
        } else {
            LeakCheck.prepare(server, spec.flush == FlushMode.BEFORE_EACH);
            ends.begin(test);
            beginCheck();
        }
        ended = null;
    }

    /** Notes that a test uses the server beside others. Then leaks are checked once, at the end. */
    synchronized void share(Scope test) {
        shared = true;
        ends.begin(test);
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
        if (check == null) {
            return null;
        }
        ended = shared ? null : check;
        return check.end(!last && spec.flush == FlushMode.BEFORE_EACH);
    }

    /** Looks once more for what the test before has left. The class fails for it, when the server ends. */
    synchronized void lookAgain() {
        if (ended != null) {
            ends.lookAgain(ended, !ofMethod && spec.flush == FlushMode.BEFORE_EACH);
            ended = null;
        }
    }

    /** Returns the text about an end of the process while the test ran, or null. */
    String unexpectedEnd(Scope test, String name) {
        return ends.end(test, name);
    }

    /**
     * Ends the server. A process that ended by itself between two tests is the failure of no test, so it
     * fails the context: the class, or the test that has a server of its own. So does a leak that appeared
     * when its test had ended.
     */
    @Override
    public synchronized void close() {
        if (ofMethod) { // of a class AfterAll methods have run
            lookAgain();
        }
        close.run();
        String outside = ends.outside();
        if (outside != null) {
            throw new AssertionError(outside);
        }
    }
}
