package io.github.lockredis.junit4;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;
import static org.junit.Assume.assumeTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Logger;

import org.junit.After;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.FixMethodOrder;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;
import org.junit.runners.MethodSorters;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;

public class LockredisRuleTest {
    private static final String OWNER = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17";
    private static final String LEAK = "a leak on redis://127\\.0\\.0\\.1:\\d+:\n"
            + "  lock \"order:1\" is held by " + OWNER + ", hold count 1, for another [0-9.]+s, "
            + "acquired [0-9.]+m?s ago; its client was 127\\.0\\.0\\.1:\\d+";

    static void lock(LockredisServer server) {
        server.command("EVAL", "redis.call('hincrby', KEYS[1], ARGV[2], 1); "
                + "redis.call('pexpire', KEYS[1], ARGV[1]); return nil;",
                "1", "order:1", "30000", OWNER);
    }

    private static Failure onlyFailure(Class<?> type, int tests) {
        List<Failure> failures = run(type, tests);
        assertEquals(failures.toString(), 1, failures.size());
        return failures.get(0);
    }

    private static List<Failure> run(Class<?> type, int tests) {
        Result result = JUnitCore.runClasses(type);
        assertEquals(tests, result.getRunCount());
        return result.getFailures();
    }

    private static void assertMatches(String pattern, String text) {
        assertTrue(text, text.matches(pattern));
    }

    @Test
    public void aTestThatClosesTheServerFailsAndDisturbsNoOther() {
        Failure failure = onlyFailure(Closing.class, 2);
        assertEquals("aCloses", failure.getDescription().getMethodName());
        assertMatches("close: a test must not close lockredis at redis://127\\.0\\.0\\.1:\\d+: "
                + "the LockredisRule does\\. For an outage call stop\\(\\)", failure.getMessage());
    }

    @FixMethodOrder(MethodSorters.NAME_ASCENDING)
    public static class Closing {
        @ClassRule
        @Rule
        public static final LockredisRule lockredis = new LockredisRule();

        @Test
        public void aCloses() {
            lockredis.server().close();
        }

        @Test
        public void bRuns() {
            assertTrue(lockredis.server().isRunning());
        }
    }

    @Test
    public void theClassHasAServerThatIsEmptyBeforeEachTest() {
        assertEquals("[]", run(Shared.class, 2).toString());
        assertEquals(1, Shared.SEEN.size());
        assertFalse(Shared.SEEN.iterator().next().isRunning());
        assertThrows(IllegalStateException.class, () -> Shared.lockredis.server());
    }

    public static class Shared {
        static final Set<LockredisServer> SEEN = new HashSet<>();
        @ClassRule
        @Rule
        public static final LockredisRule lockredis = new LockredisRule();

        @BeforeClass
        public static void connect() {
            SEEN.add(lockredis.server());
        }

        @Test
        public void one() {
            use();
        }

        @Test
        public void two() {
            use();
        }

        private void use() {
            assertNull(lockredis.server().command("SET", "key", "value", "GET"));
            SEEN.add(lockredis.server());
        }
    }

    @Test
    public void aForgottenLockFailsItsTestOnly() {
        Failure failure = onlyFailure(Forgotten.class, 2);
        assertEquals("one", failure.getDescription().getMethodName());
        assertMatches(LEAK, failure.getMessage());
    }

    @FixMethodOrder(MethodSorters.NAME_ASCENDING)
    public static class Forgotten {
        @ClassRule
        @Rule
        public static final LockredisRule lockredis = new LockredisRule();

        @Test
        public void one() {
            lock(lockredis.server());
        }

        @Test
        public void two() {
            assertTrue(lockredis.server().locks().isEmpty());
        }
    }

    @Test
    public void aTestThatFailedHasTheLeaksAsSuppressed() {
        Throwable failure = onlyFailure(Failed.class, 1).getException();
        assertEquals("the packet is empty", failure.getMessage());
        String state = failure.getSuppressed()[0].getMessage();
        assertTrue(state, state.contains(" when the test failed:\n  lock order:1, ttl "));
        assertMatches(LEAK, failure.getSuppressed()[1].getMessage());
    }

    @Test
    public void ofSeveralFailuresTheFirstTellsTheState() {
        List<Failure> failures = JUnitCore.runClasses(FailedTwice.class).getFailures();
        assertEquals(2, failures.size());
        assertEquals(2, failures.get(0).getException().getSuppressed().length);
        assertEquals(0, failures.get(1).getException().getSuppressed().length);
    }

    public static class FailedTwice {
        @ClassRule
        @Rule
        public static final LockredisRule lockredis = new LockredisRule();

        @Test
        public void test() {
            lock(lockredis.server());
            fail("the packet is empty");
        }

        @After
        public void after() {
            fail("the shelf is empty");
        }
    }

    public static class Failed {
        @Rule
        public final LockredisRule lockredis = new LockredisRule();

        @Test
        public void test() {
            lock(lockredis.server());
            fail("the packet is empty");
        }
    }

    @Test
    public void anAbortedTestStaysAbortedAndTheLogHasItsLeaks() {
        List<String> logged = new CopyOnWriteArrayList<>();
        Logger log = Logger.getLogger(LockredisRule.class.getName());
        log.setFilter(record -> {
            logged.add(record.getMessage());
            return false;
        });
        assertEquals("[]", run(Aborted.class, 1).toString());
        log.setFilter(null);
        assertEquals(logged.toString(), 1, logged.size());
        assertMatches("aborts\\(.*\\) is aborted, and left " + LEAK, logged.get(0));
    }

    public static class Aborted {
        @Rule
        public final LockredisRule lockredis = new LockredisRule();

        @Test
        public void aborts() {
            lock(lockredis.server());
            assumeTrue(false);
        }
    }

    @Test
    public void keysThatAreDataAreNoLeaks() {
        assertEquals("[]", run(DataKeys.class, 1).toString());
    }

    public static class DataKeys {
        @Rule
        public final LockredisRule lockredis = new LockredisRule().dataKeys("order:?");

        @Test
        public void remembers() {
            lock(lockredis.server());
        }
    }

    @Test
    public void aRuleOfTheInstanceGivesEachTestAServer() {
        assertEquals("[]", run(PerMethod.class, 2).toString());
    }

    public static class PerMethod {
        static LockredisServer last;
        @Rule
        public final LockredisRule lockredis =
                new LockredisRule(server -> server.password("secret"));

        @Test
        public void one() {
            use();
        }

        @Test
        public void two() {
            use();
        }

        private void use() {
            assertEquals("secret", lockredis.server().password());
            assertNotEquals(last, lockredis.server());
            last = lockredis.server();
        }
    }

    @Test
    public void aRuleOfTheClassOnlyFindsLeaksAtItsEnd() {
        Failure failure = onlyFailure(ClassOnly.class, 2);
        assertNull(failure.getDescription().getMethodName());
        assertMatches(LEAK, failure.getMessage());
    }

    @FixMethodOrder(MethodSorters.NAME_ASCENDING)
    public static class ClassOnly {
        @ClassRule
        public static final LockredisRule lockredis = new LockredisRule();

        @Test
        public void one() {
            lock(lockredis.server());
        }

        @Test
        public void two() {
            assertEquals(1, lockredis.server().locks().size());
        }
    }

    @Test
    public void aTestOnAClusterIsCheckedOnEveryNode() {
        Failure failure = onlyFailure(OnACluster.class, 4);
        assertEquals("aForgets", failure.getDescription().getMethodName());
        String third = "redis://" + OnACluster.nodes.get(2);
        String text = failure.getMessage();
        assertTrue(text, text.startsWith("a leak on " + third + ":\n  lock \"a\" is held"));
    }

    @FixMethodOrder(MethodSorters.NAME_ASCENDING)
    public static class OnACluster {
        static List<String> nodes;
        @ClassRule
        @Rule
        public static final LockredisRule lockredis = new LockredisRule(server -> server.password("secret"))
                .topology(Topology.CLUSTER).nodes(3);

        @Test
        public void aForgets() {
            LockredisTopology topology = lockredis.topology();
            nodes = topology.nodes();
            assertEquals(3, topology.servers().size());
            assertEquals(lockredis.server(), topology.node(0));
            assertEquals("secret", topology.password());
            topology.node(2).command("EVAL",
                    "redis.call('hset', KEYS[1], ARGV[1], 1) redis.call('expire', KEYS[1], 30)", "1", "a", OWNER);
        }

        @Test
        public void bIsEmptyAndStopsANodeAndTurnsTheClocks() {
            lockredis.topology().servers().forEach(node -> assertTrue(node.locks().isEmpty()));
            lockredis.topology().clock().advance(Duration.ofDays(1));
            lockredis.topology().node(1).stop();
        }

        @Test
        public void cHasAllNodesWithTheMachinesTime() {
            lockredis.topology().servers().forEach(node -> {
                assertTrue(node.isRunning());
                assertTrue(node.clock().now().isBefore(Instant.now().plusSeconds(3600)));
            });
        }

        @Test
        public void dMayNotClose() {
            assertThrows(IllegalStateException.class, () -> lockredis.topology().close());
        }
    }

    @Test
    public void aRuleStartsTheOtherTopologies() {
        assertEquals("[]", run(OtherTopologies.class, 1).toString());
        List<Failure> failures = run(TwoAlone.class, 0);
        assertEquals("nodes: the topology SINGLE has one server", failures.get(0).getMessage());
    }

    public static class OtherTopologies {
        @ClassRule
        public static final LockredisRule primaries = new LockredisRule().topology(Topology.PRIMARIES);
        @ClassRule
        public static final LockredisRule sentinel =
                new LockredisRule().sentinels(topology -> topology.masterName("orders"));
        @ClassRule
        public static final LockredisRule alone = new LockredisRule();

        @Test
        public void startsThem() {
            assertEquals(3, primaries.topology().servers().size());
            assertEquals("orders", sentinel.topology().masterName());
            assertEquals(Topology.SENTINEL, sentinel.topology().kind());
            assertEquals(Topology.SINGLE, alone.topology().kind());
        }
    }

    public static class TwoAlone {
        @ClassRule
        public static final LockredisRule lockredis = new LockredisRule().nodes(2);

        @Test
        public void runs() {
        }
    }

    @Test
    public void theRuleSaysWhatToGiveInPlaceOfNull() {
        String text = assertThrows(NullPointerException.class, () -> new LockredisRule(null)).getMessage();
        assertMatches("LockredisRule\\(null\\): give .*", text);
        LockredisRule rule = new LockredisRule();
        text = assertThrows(NullPointerException.class, () -> rule.leaks(null)).getMessage();
        assertMatches("leaks\\(null\\): give LeakMode\\.FAIL.*", text);
        text = assertThrows(NullPointerException.class, () -> rule.dataKeys((String[]) null)).getMessage();
        assertMatches("dataKeys\\(null\\): give .*", text);
        text = assertThrows(NullPointerException.class, () -> rule.topology(null)).getMessage();
        assertMatches("topology\\(null\\): give a topology.*", text);
        text = assertThrows(NullPointerException.class, () -> rule.sentinels(null)).getMessage();
        assertMatches("sentinels\\(null\\): give .*", text);
        text = assertThrows(NullPointerException.class, () -> rule.flush(null)).getMessage();
        assertMatches("flush\\(null\\): give FlushMode\\.BEFORE_EACH.*", text);
    }

    @Test
    public void leaksMayBeAllowedAndDataKept() {
        assertEquals("[]", run(Allowed.class, 2).toString());
    }

    @FixMethodOrder(MethodSorters.NAME_ASCENDING)
    public static class Allowed {
        @ClassRule
        @Rule
        public static final LockredisRule lockredis = new LockredisRule()
                .leaks(LeakMode.ALLOWED).flush(FlushMode.NEVER);

        @Test
        public void one() {
            lock(lockredis.server());
        }

        @Test
        public void two() {
            assertEquals(1, lockredis.server().locks().size());
            lockredis.server().stop();
        }
    }
}
