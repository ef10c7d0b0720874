package io.github.lockredis.junit4;

import java.util.Objects;
import java.util.function.Consumer;
import java.util.logging.Logger;

import org.junit.AssumptionViolatedException;
import org.junit.rules.TestRule;
import org.junit.runner.Description;
import org.junit.runners.model.MultipleFailureException;
import org.junit.runners.model.Statement;

import io.github.lockredis.server.EndWatch;
import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakCheck;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.ServerState;
import io.github.lockredis.server.Topology;

/**
 * Starts a lockredis for the tests of a class. Each test begins with an empty server. A test fails
 * at its end when it leaves a lock, a waiting client or a subscription behind.
 *
 * <pre>{@code
 * @ClassRule
 * @Rule
 * public static final LockredisRule lockredis = new LockredisRule();
 * }</pre>
 *
 * <p>With both annotations the class has one server. With {@code @Rule} alone, on a field that is
 * not static, each test has its own. With {@code @ClassRule} alone, data stays between tests and
 * leaks are found when the class ends.
 *
 * <p>{@code new LockredisRule().topology(Topology.CLUSTER).nodes(3)} starts several servers. A test is checked on all
 * of them.
 *
 * <p>The methods of a class must not run in parallel.
 */
public final class LockredisRule implements TestRule {
    private Consumer<LockredisTopology.Builder> setup;
    private Topology kind; // null: not chosen
    private volatile LockredisTopology topology; // null: none runs
    private volatile LockredisServer server; // the first, whose checks look at all. Null: none runs
    private volatile boolean checked; // each test is checked, so the class need not be
    private EndWatch ends; // of the server
    private LeakCheck ended; // of the test before, until lookAgain. Null: none
    private LeakMode leaks = LeakMode.FAIL;
    private String[] dataKeys = {};
    private FlushMode flush = FlushMode.BEFORE_EACH;

    /** Makes a rule for a server with the defaults. */
    public LockredisRule() {
        this(builder -> { });
    }

    /** Makes a rule. The function sets the server's values before each start. */
    public LockredisRule(Consumer<LockredisServer.Builder> setup) {
        Objects.requireNonNull(setup, "LockredisRule(null): give a function that sets the"
                + " server's values, or call LockredisRule()");
        this.setup = topology -> topology.server(setup);
    }

    /** Sets what starts: a server alone, behind three Sentinels, or another topology. Returns this rule. */
    public LockredisRule topology(Topology kind) {
        this.kind = Objects.requireNonNull(kind, "topology(null): give a topology, such as Topology.CLUSTER");
        return this;
    }

    /**
     * Sets the number of servers: a cluster's nodes, or the primaries, or the nodes that a proxy stands for. The
     * default is 1 for a cluster, else 3. The start fails with the other topologies. Returns this rule.
     */
    public LockredisRule nodes(int count) {
        setup = setup.andThen(topology -> topology.nodes(count));
        return this;
    }

    /**
     * Starts the server behind Sentinels with other values than the defaults. The start fails with the other
     * topologies. Returns this rule.
     */
    public LockredisRule sentinels(Consumer<LockredisTopology.Builder> setup) {
        this.setup = this.setup.andThen(Objects.requireNonNull(setup, "sentinels(null): give a function that sets the"
                + " Sentinels' values, or leave the call out"));
        kind = kind == null ? Topology.SENTINEL : kind;
        return this;
    }

    /** Sets what happens to a test that leaves something behind. The default: it fails. Returns this rule. */
    public LockredisRule leaks(LeakMode leaks) {
        this.leaks = Objects.requireNonNull(leaks,
                "leaks(null): give LeakMode.FAIL, the default, or LeakMode.ALLOWED");
        return this;
    }

    /** Sets patterns of keys that are data and never leaks, as in KEYS. The default: none. Returns this rule. */
    public LockredisRule dataKeys(String... patterns) {
        Objects.requireNonNull(patterns, "dataKeys(null): give patterns of keys, or leave the call out");
        this.dataKeys = patterns.clone();
        return this;
    }

    /**
     * Sets when all data is deleted. The default: before each test. The other modes keep it between the tests of
     * the class. Returns this rule.
     */
    public LockredisRule flush(FlushMode flush) {
        this.flush = Objects.requireNonNull(flush, "flush(null): give FlushMode.BEFORE_EACH, the default,"
                + " BEFORE_CLASS or NEVER");
        return this;
    }

    /**
     * Returns the server, the first one of several.
     *
     * @throws IllegalStateException if none runs: the rule has to be a field with an annotation
     */
    public LockredisServer server() {
        return topology().server();
    }

    /**
     * Returns all servers, and the addresses that a client's configuration names.
     *
     * @throws IllegalStateException if none runs: the rule has to be a field with an annotation
     */
    public LockredisTopology topology() {
        LockredisTopology running = topology;
        if (running == null) {
            throw new IllegalStateException("LockredisRule: no server runs. Its field needs "
                    + "@ClassRule and @Rule, and must be public");
        }
        return running;
    }

    @Override
    public Statement apply(Statement base, Description description) {
        return new Statement() {
            @Override
            public void evaluate() throws Throwable {
                if (server != null) {
                    checked = true;
                    lookAgain();
                    LeakCheck.prepare(server, flush == FlushMode.BEFORE_EACH);
                    check(base, description, false);
                } else {
                    run(base, description);
                }
            }
        };
    }

    /**
     * Looks once more for what the test before has left. Without a flush it does not look between two tests: a rule
     * around this one may have acquired what the next test needs.
     */
    private void lookAgain() {
        if (ended != null) {
            ends.lookAgain(ended, flush == FlushMode.BEFORE_EACH);
            ended = null;
        }
    }

    private void run(Statement base, Description description) throws Throwable {
        LockredisTopology.Builder builder = LockredisTopology.builder(kind == null ? Topology.SINGLE : kind);
        setup.accept(builder);
        LockredisTopology running = builder.start();
        Runnable close = running.closeOnlyBy("the LockredisRule");
        Throwable failure = null;
        try {
            ends = new EndWatch(running.server());
            topology = running;
            server = running.server();
            checked = false;
            if (server.isAttached()) {
                // A real Redis has the data of earlier tests.
                LeakCheck.prepare(server, flush != FlushMode.NEVER);
            }
            ended = null;
            check(base, description, true);
            lookAgain();
        } catch (Throwable e) {
            failure = e;
        } finally {
            close.run();
            topology = null;
            server = null;
        }
        fail(ends.outside(), failure);
    }

    /**
     * Runs a test, or what the server has been started for.
     *
     * @param last whether the server ends with it. If its tests were checked, it need not be
     */
    private void check(Statement base, Description description, boolean last) throws Throwable {
        LeakCheck check = leaks == LeakMode.FAIL ? LeakCheck.begin(server).dataKeys(dataKeys) : null;
        if (!last) {
            ends.begin(description);
        }
        Throwable failure = null;
        try {
            base.evaluate();
        } catch (Throwable e) {
            failure = e;
            if (!(last && checked) && !(e instanceof AssumptionViolatedException)) {
                ServerState.addTo(shown(e), server);
            }
        }
        boolean wanted = check != null && !(last && checked);
        String left = wanted ? check.end(!last && flush == FlushMode.BEFORE_EACH) : null;
        if (left != null && failure != null) {
            if (failure instanceof AssumptionViolatedException) { // reports do not show what it suppresses
                Logger.getLogger(LockredisRule.class.getName()).warning(name(description)
                        + " is aborted, and left " + left);
            }
            shown(failure).addSuppressed(new AssertionError(left));
            left = null;
        }
        String end = last && checked ? null : ends.end(description, name(description)); // else run reports it
        if (end == null) {
            end = left;
        } else if (left != null) {
            end += "\n" + left;
        }
        ended = wanted && (last || flush == FlushMode.BEFORE_EACH) ? check : null;
        fail(end, failure);
    }

    /** Returns what reports show of a failure. Of several failures they show each one, and not what holds them. */
    private static Throwable shown(Throwable failure) {
        return failure instanceof MultipleFailureException
                ? ((MultipleFailureException) failure).getFailures().get(0) : failure;
    }

    /** Returns the name of a test or a class for the text about an end behind it. */
    static String name(Description description) {
        return (description.isTest() ? "" : "class ") + description.getDisplayName();
    }

    /** Throws an error with a text, or the failure that there is. Nulls: it returns. */
    private static void fail(String text, Throwable failure) throws Throwable {
        if (text != null) {
            AssertionError error = new AssertionError(text);
            if (failure == null || failure instanceof AssumptionViolatedException) {
                throw error;
            }
            shown(failure).addSuppressed(error);
        }
        if (failure != null) {
            throw failure;
        }
    }
}
