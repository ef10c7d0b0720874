package io.github.lockredis.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Logger;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.ServerState;
import io.github.lockredis.server.Topology;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.TestExecutionListeners;
import org.springframework.test.context.TestExecutionListeners.MergeMode;
import org.springframework.test.context.support.DependencyInjectionTestExecutionListener;
import org.springframework.test.context.support.DirtiesContextBeforeModesTestExecutionListener;
import org.springframework.test.context.support.DirtiesContextTestExecutionListener;
import org.springframework.test.context.transaction.TransactionalTestExecutionListener;

/** Drives Spring's test framework by hand, so that a test can see another test fail. */
class ContextTest {
    private static final String LOCK = "local v = redis.call('get', KEYS[1]) if not v then"
            + " redis.call('set', KEYS[1], ARGV[1], 'px', 60000) end";
    private static final String OWNER = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11";

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis
    static class First {
        @Autowired
        LockredisServer server;

        void test() {
        }

        class Inner {
        }
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis(flush = FlushMode.NEVER, leaks = LeakMode.ALLOWED)
    static class SameServer extends First {
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis(flush = FlushMode.NEVER)
    static class Unflushed extends First {
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis(dataKeys = "idem:*")
    static class WithDataKeys extends First {
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis(directives = "maxmemory 64mb")
    static class OtherServer extends First {
    }

    @SpringBootTest(classes = Small.class, properties = "example=dirty")
    @AutoConfigureLockredis
    static class Dirty extends First {
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis(topology = Topology.SENTINEL)
    static class Behind extends First {
        @Autowired
        LockredisTopology topology;
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis(topology = Topology.SENTINEL, leaks = LeakMode.ALLOWED)
    static class SameSentinels extends Behind {
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis(topology = Topology.SENTINEL, masterName = "orders")
    static class OtherSentinels extends Behind {
    }

    @SpringBootTest(classes = Empty.class)
    static class NotAnnotated {
    }

    @Configuration(proxyBeanMethods = false)
    static class Empty {
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(RedisAutoConfiguration.class)
    static class Small {
        static Object lastReply;

        @Bean // The context does not know that the bean needs the server
        DisposableBean client(ApplicationContext context) {
            LockredisServer server = context.getBean(LockredisServer.class);
            return () -> lastReply = server.command("PING");
        }
    }

    /** A test that runs by hand. */
    private static final class Run {
        final TestContextManager manager;
        final First test;
        final Method method;

        Run(Class<? extends First> type) throws Exception {
            manager = new TestContextManager(type);
            test = type.getDeclaredConstructor().newInstance();
            method = First.class.getDeclaredMethod("test");
            manager.beforeTestClass();
            manager.prepareTestInstance(test);
        }

        void begin() throws Exception {
            manager.beforeTestMethod(test, method);
        }

        void end(Throwable failure) throws Exception {
            manager.afterTestMethod(test, method, failure);
        }
    }

    private static void lock(LockredisServer server, String name) {
        server.command("EVAL", LOCK, "1", name, OWNER);
    }

    @Test
    void classesWithEqualServersShareAContext() throws Exception {
        LockredisServer server = new Run(First.class).test.server;
        assertThat(new Run(First.class).test.server).isSameAs(server);
        assertThat(new Run(SameServer.class).test.server).isSameAs(server);
        LockredisServer other = new Run(OtherServer.class).test.server;
        assertThat(other.port()).isNotEqualTo(server.port());
        assertThat(other.command("CONFIG", "GET", "maxmemory").toString()).contains("67108864");
    }

    @Test
    void classesWithEqualTopologiesShareAContext() throws Exception {
        Behind one = (Behind) new Run(Behind.class).test;
        assertThat(((Behind) new Run(SameSentinels.class).test).topology).isSameAs(one.topology);
        assertThat(new Run(First.class).test.server).isNotSameAs(one.server);
        Run run = new Run(OtherSentinels.class);
        Behind other = (Behind) run.test;
        assertThat(other.topology.masterName()).isEqualTo("orders");
        assertThat(other.topology.nodes()).doesNotContainAnyElementsOf(one.topology.nodes());
        run.manager.getTestContext().markApplicationContextDirty(
                DirtiesContext.HierarchyMode.EXHAUSTIVE);
        assertThat(other.server.isRunning()).isFalse();
        assertThat(one.server.isRunning()).isTrue();
    }

    @Test
    void theServerStopsAfterItsClients() throws Exception {
        Run run = new Run(Dirty.class);
        Small.lastReply = null;
        run.manager.getTestContext().markApplicationContextDirty(
                DirtiesContext.HierarchyMode.EXHAUSTIVE);
        assertThat(Small.lastReply).isEqualTo("PONG");
        assertThat(run.test.server.isRunning()).isFalse();
        assertThat(new Run(Dirty.class).test.server.isRunning()).isTrue();
    }

    @Test
    void aTestThatLeavesALockFails() throws Exception {
        Run run = new Run(First.class);
        run.begin();
        lock(run.test.server, "order:7");
        assertThatThrownBy(() -> run.end(null)).isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("a leak on redis://127.0.0.1:")
                .hasMessageContaining("order:7").hasMessageContaining(OWNER)
                .hasMessageContaining("dataKeys = \"").hasMessageContaining("LeakMode.ALLOWED");
        run.begin();
        assertThat(run.test.server.locks()).isEmpty();
        run.end(null);
    }

    @Test
    void aClassWithoutTheListenerFails() {
        for (Class<?> type : Arrays.asList(Replaced.class, Replaced.Inner.class, ReplacedBelow.class)) {
            assertThatThrownBy(() -> new TestContextManager(type)).isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("@AutoConfigureLockredis: the @TestExecutionListeners of "
                            + (type == ReplacedBelow.class ? type : Replaced.class).getName() + " replaces the ")
                    .hasMessageContaining("MERGE_WITH_DEFAULTS");
        }
        for (Class<?> type : Arrays.asList(Merged.class, MergedAbove.class, Listed.class, MergedBelow.class)) {
            assertThat(new TestContextManager(type).getTestExecutionListeners())
                    .hasAtLeastOneElementOfType(LockredisListener.class);
        }
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis
    @TestExecutionListeners(DependencyInjectionTestExecutionListener.class)
    static class Replaced {
        @Nested
        class Inner {
        }
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis
    @TestExecutionListeners(listeners = DirtiesContextTestExecutionListener.class,
            mergeMode = MergeMode.MERGE_WITH_DEFAULTS)
    static class Merged {
    }

    @TestExecutionListeners(DependencyInjectionTestExecutionListener.class)
    static class MergedAbove extends Merged {
    }

    @TestExecutionListeners(listeners = DependencyInjectionTestExecutionListener.class, inheritListeners = false)
    static class ReplacedBelow extends Merged {
    }

    @TestExecutionListeners(listeners = LockredisListener.class, inheritListeners = false)
    static class Listed extends Merged {
    }

    @Test
    void aClassWithTheListenerInAWrongPlaceFails() {
        for (Class<?> type : Arrays.asList(BehindTransactions.class, BelowTransactions.class,
                BelowTransactions.Inner.class)) {
            assertThatThrownBy(() -> new TestContextManager(type)).isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("@AutoConfigureLockredis: the @TestExecutionListeners of "
                            + (type == BehindTransactions.class ? type : BelowTransactions.class).getName()
                            + " has LockredisListener behind TransactionalTestExecutionListener: ")
                    .hasMessageEndingWith(". List LockredisListener.class in front of it, or write mergeMode ="
                            + " MERGE_WITH_DEFAULTS in the annotation that replaces Spring's defaults");
        }
        for (Class<?> type : Arrays.asList(BeforeDirties.class, BeforeDirtiesBeforeModes.class)) {
            assertThatThrownBy(() -> new TestContextManager(type)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(" has LockredisListener in front of DirtiesContext")
                    .hasMessageContaining(". List LockredisListener.class behind it, or write mergeMode =");
        }
    }

    @Test
    void theListenerIsInItsPlaceInAClassThatDoesNotFail() {
        for (Class<?> type : Arrays.asList(InItsPlace.class, WrongButMerged.class, First.class)) {
            List<Class<?>> listeners = new ArrayList<>();
            new TestContextManager(type).getTestExecutionListeners()
                    .forEach(listener -> listeners.add(listener.getClass()));
            assertThat(listeners).containsSubsequence(DirtiesContextBeforeModesTestExecutionListener.class,
                    DirtiesContextTestExecutionListener.class, LockredisListener.class,
                    TransactionalTestExecutionListener.class);
        }
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis
    @TestExecutionListeners({TransactionalTestExecutionListener.class, LockredisListener.class})
    static class BehindTransactions {
    }

    @TestExecutionListeners(TransactionalTestExecutionListener.class)
    static class WithTransactions {
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis
    @TestExecutionListeners(LockredisListener.class)
    static class BelowTransactions extends WithTransactions {
        @Nested
        class Inner {
        }
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis
    @TestExecutionListeners({LockredisListener.class, DirtiesContextTestExecutionListener.class})
    static class BeforeDirties {
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis
    @TestExecutionListeners({LockredisListener.class, DirtiesContextBeforeModesTestExecutionListener.class})
    static class BeforeDirtiesBeforeModes {
    }

    @SpringBootTest(classes = Small.class)
    @AutoConfigureLockredis
    @TestExecutionListeners({DirtiesContextBeforeModesTestExecutionListener.class,
            DirtiesContextTestExecutionListener.class, LockredisListener.class,
            TransactionalTestExecutionListener.class})
    static class InItsPlace {
    }

    @TestExecutionListeners(listeners = {TransactionalTestExecutionListener.class, LockredisListener.class},
            inheritListeners = false, mergeMode = MergeMode.MERGE_WITH_DEFAULTS)
    static class WrongButMerged extends BeforeDirties {
    }

    /** As a class below one of Spring's base classes. */
    @TestExecutionListeners(listeners = {}, inheritListeners = false, mergeMode = MergeMode.MERGE_WITH_DEFAULTS)
    static class MergedBelow extends Replaced {
    }

    @Test
    void keysThatAreDataAreNoLeaksOfTheClassThatNamesThem() throws Exception {
        Run named = new Run(WithDataKeys.class);
        Run other = new Run(First.class);
        assertThat(named.test.server).isSameAs(other.test.server);
        for (Run run : Arrays.asList(named, other)) {
            run.begin();
            lock(run.test.server, "idem:7");
            if (run == named) {
                run.end(null);
            } else {
                assertThatThrownBy(() -> run.end(null)).hasMessageContaining("idem:7 is data and no lock");
            }
        }
    }

    @Test
    void theLogHasTheLeaksOfAnAbortedTest() throws Exception {
        List<String> logged = new CopyOnWriteArrayList<>();
        Logger log = Logger.getLogger(LockredisListener.class.getName());
        log.setFilter(record -> {
            logged.add(record.getMessage());
            return false;
        });
        Run run = new Run(First.class);
        for (Throwable failure : Arrays.asList(new TestAbortedException(), new AssertionError())) {
            run.begin();
            lock(run.test.server, "order:7");
            run.end(failure);
            assertThat(failure.getSuppressed()).hasSize(failure instanceof AssertionError ? 2 : 1);
        }
        log.setFilter(null);
        assertThat(logged).hasSize(1);
        assertThat(logged.get(0)).startsWith("First.test is aborted, and left a leak on ").contains("order:7");
    }

    @Test
    void aWaiterOfAFailedTestGetsItsLockBeforeTheNextTest() throws Exception {
        String channel = "redisson_lock__channel:{order:7}";
        for (Class<? extends First> type : Arrays.asList(First.class, Unflushed.class)) {
            Run run = new Run(type);
            run.begin();
            try (Socket waiter = new Socket("127.0.0.1", run.test.server.port())) {
                String commands = "AUTH " + run.test.server.password() + "\r\nSUBSCRIBE " + channel + "\r\n";
                waiter.getOutputStream().write(commands.getBytes(StandardCharsets.US_ASCII));
                BufferedReader replies = new BufferedReader(
                        new InputStreamReader(waiter.getInputStream(), StandardCharsets.US_ASCII));
                while (!replies.readLine().equals(":1")) { } // the subscription's last line
                run.test.server.command("EVAL", "redis.call('hset', KEYS[1], ARGV[1], 1)", "1", "order:7",
                        OWNER + ":17"); // as Redisson does
                assertThatThrownBy(() -> run.end(null)).isInstanceOf(AssertionError.class)
                        .hasMessageStartingWith("a leak on ");
                waiter.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
                replies.readLine();
                replies.readLine();
                assertThat(replies.readLine()).isEqualTo(type == First.class ? "message" : "pong");
            }
            // The server may still have the waiter, whose connection has just ended.
            assertThat(run.test.server.locks().stream().filter(lock -> !lock.holders().isEmpty()))
                    .hasSize(type == First.class ? 0 : 1);
            run.test.server.flush();
        }
    }

    @Test
    void aTestThatLeavesAPauseFailsAndTheNextOneIsNotHeldBack() throws Exception {
        Run run = new Run(First.class);
        run.begin();
        run.test.server.pauseWrites(Duration.ofHours(1));
        assertThatThrownBy(() -> run.end(null)).isInstanceOf(AssertionError.class)
                .hasMessageContaining(" ms. unpauseClients() ends it");
        run.begin();
        run.test.server.pauseClients(Duration.ofHours(1));
        assertThatThrownBy(() -> run.end(null)).isInstanceOf(AssertionError.class)
                .hasMessageContaining(" ms. unpauseClients() ends it");
        run.begin();
        lock(run.test.server, "order:7");
        run.test.server.flush();
        run.end(null);
    }

    @Test
    void aTestCannotCloseTheServerOfItsContext() throws Exception {
        Run run = new Run(Behind.class);
        LockredisTopology topology = ((Behind) run.test).topology;
        run.begin();
        for (AutoCloseable closed : Arrays.asList(run.test.server, topology)) {
            assertThatThrownBy(closed::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("close: a test must not close lockredis at redis://")
                    .hasMessageEndingWith(": Spring does. For an outage call stop()");
        }
        assertThat(run.test.server.isRunning()).isTrue();
        run.end(null);
        run.begin();
        run.end(null);
        run.manager.afterTestClass();
    }

    @Test
    void aFailedTestKeepsItsFailure() throws Exception {
        Run run = new Run(First.class);
        run.begin();
        lock(run.test.server, "order:7");
        AssertionError failure = new AssertionError("expected 1");
        run.end(failure);
        assertThat(failure.getSuppressed()).hasSize(2);
        assertThat(failure.getSuppressed()[0]).isInstanceOf(ServerState.class)
                .hasMessageContaining(" when the test failed:\n  set order:7, ttl ");
    }

    @Test
    void whatWasHeldBeforeAndWhatIsAllowedIsNoLeak() throws Exception {
        Run run = new Run(SameServer.class);
        run.begin();
        lock(run.test.server, "order:7");
        run.end(null);
        assertThat(run.test.server.locks()).hasSize(1);
    }

    @Test
    void theServerIsEmptyBeforeEachTest() throws Exception {
        Run run = new Run(First.class);
        run.test.server.command("SET", "key", "value");
        run.begin();
        assertThat(run.test.server.command("EXISTS", "key")).isEqualTo(0L);
        run.end(null);
        Run never = new Run(SameServer.class);
        never.test.server.command("SET", "key", "value");
        never.begin();
        assertThat(never.test.server.command("EXISTS", "key")).isEqualTo(1L);
        never.end(null);
    }

    @Test
    void aStoppedServerRunsAgainInTheNextTest() throws Exception {
        Run run = new Run(First.class);
        run.begin();
        run.test.server.stop();
        run.end(null);
        run.begin();
        assertThat(run.test.server.isRunning()).isTrue();
        run.end(null);
    }

    private static final String END = " ended by itself with exit code 0. A test calls stop()";

    /** Ends the process as a bug in it would. */
    private static void end(LockredisServer server) {
        assertThat(server.isRunning()).isTrue();
        assertThatThrownBy(() -> server.command("SHUTDOWN")).hasMessageContaining("ended by itself");
    }

    @Test
    void aTestFailsWhenItsServerEndsByItself() throws Exception {
        Run run = new Run(First.class);
        run.begin();
        end(run.test.server);
        assertThatThrownBy(() -> run.end(null)).isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("lockredis at redis://").hasMessageContaining(END);
        run.begin();
        end(run.test.server);
        run.test.server.restart();
        assertThatThrownBy(() -> run.end(null)).hasMessageContaining(END);
        run.begin();
        assertThat(run.test.server.isRunning()).isTrue();
        run.end(null);
        Run allowed = new Run(SameServer.class);
        allowed.begin();
        end(run.test.server);
        assertThatThrownBy(() -> allowed.end(null)).hasMessageContaining(END);
        allowed.begin();
        try (Socket client = new Socket("127.0.0.1", run.test.server.port())) {
            String commands = "AUTH " + run.test.server.password() + "\r\nSHUTDOWN\r\n";
            client.getOutputStream().write(commands.getBytes(StandardCharsets.US_ASCII));
            while (client.getInputStream().read() >= 0) { } // the process ends a moment later
        }
        assertThatThrownBy(() -> allowed.end(null)).hasMessageContaining(END);
        allowed.manager.afterTestClass();
        run.begin();
        run.end(null);
        run.manager.afterTestClass();
    }

    @Test
    void anEndFailsEachTestThatRunsWhenItIsNoticed() throws Exception {
        Run before = new Run(Unflushed.class);
        Run bystander = new Run(Unflushed.class);
        Run culprit = new Run(Unflushed.class);
        Run next = new Run(Unflushed.class);
        before.begin();
        bystander.begin();
        culprit.begin();
        before.end(null);
        end(culprit.test.server);
        assertThatThrownBy(() -> bystander.end(null)).hasMessageContaining(END)
                .hasMessageContaining("Other tests ran on this server");
        next.begin();
        assertThat(next.test.server.isRunning()).isTrue();
        assertThatThrownBy(() -> culprit.end(null)).hasMessageContaining(END);
        next.end(null);
        next.manager.afterTestClass();
    }

    @Test
    void aClassFailsWhenItsServerEndsByItselfOutsideOfATest() throws Exception {
        Run between = new Run(First.class);
        end(between.test.server);
        between.begin();
        assertThat(between.test.server.isRunning()).isTrue();
        between.end(null);
        assertThatThrownBy(between.manager::afterTestClass).isInstanceOf(AssertionError.class)
                .hasMessageMatching("(?s)(before the first test|after the test \\w+\\.test): lockredis at .*")
                .hasMessageContaining(END); // the context may have had tests
        Run after = new Run(First.class);
        end(after.test.server);
        assertThatThrownBy(after.manager::afterTestClass).hasMessageContaining(END);
        // The next class has a new server
        Run next = new Run(First.class);
        next.begin();
        next.end(null);
        next.manager.afterTestClass();
    }

    @Test
    void aContextThatIsClosedDoesNotHideTheEnd() throws Exception {
        Run run = new Run(Dirty.class);
        end(run.test.server);
        run.begin();
        run.end(null);
        run.manager.getTestContext().markApplicationContextDirty(
                DirtiesContext.HierarchyMode.EXHAUSTIVE);
        assertThatThrownBy(run.manager::afterTestClass).hasMessageContaining(END);
        assertThat(run.manager.getTestContext().hasApplicationContext()).isFalse();
    }

    @Test
    void twoTestsAtOnceMustNotFlush() throws Exception {
        Run one = new Run(First.class);
        Run two = new Run(First.class);
        one.begin();
        assertThatThrownBy(two::begin).hasMessageContaining("flush = FlushMode.NEVER");
        two.end(null);
        one.end(null);
        assertThatCode(two::begin).doesNotThrowAnyException();
        two.end(null);
    }

    @Test
    void aClassWithoutTheAnnotationHasNoServer() throws Exception {
        ApplicationContext context =
                new TestContextManager(NotAnnotated.class).getTestContext().getApplicationContext();
        assertThat(context.getBeanProvider(LockredisServer.class).getIfAvailable()).isNull();
    }

    @Test
    void aNestedClassHasTheServerOfItsEnclosingClass() {
        assertThat(LockredisCustomizerFactory.annotation(First.Inner.class)).isNotNull();
    }

    @Test
    void theModuleForTheSpringBootIsChosenAndAMissingOneIsNamed() {
        List<Generation> installed = SpringFactoriesLoader.loadFactories(Generation.class, null);
        assertThat(installed).hasSize(1);
        Generation generation = installed.get(0);
        assertThat(LockredisCustomizer.choose(installed, SpringBootVersion.getVersion())).isSameAs(generation);
        assertThat(LockredisCustomizer.choose(installed, null)).isSameAs(generation);
        assertThatThrownBy(() -> LockredisCustomizer.choose(installed, "4.0.1"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("@AutoConfigureLockredis: " + generation.module() + ". This is Spring Boot 4.0.1");
        assertThatThrownBy(() -> LockredisCustomizer.choose(Collections.emptyList(), "3.5.9"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("needs lockredis-spring-boot-3 or lockredis-spring-boot-2");
    }
}
