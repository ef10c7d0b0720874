package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisServer;

/** When servers start and end, and which tests share one. */
class LifecycleTest {
    @Test
    void nestedClassesShareTheServerOfTheirOuterClass() {
        Run.of(Outer.class).assertSucceeded(5);
        assertEquals(1, Outer.SEEN.size());
        assertFalse(Outer.SEEN.iterator().next().isRunning());
    }

    @Test
    void dataMayStayUntilTheNextClassBegins() {
        Run.of(EmptyForEachClass.class).assertSucceeded(4);
    }

    @Test
    void aRealRedisIsEmptiedWhenAClassBeginsUnlessItsDataIsKept() {
        try (LockredisServer own = LockredisServer.start()) {
            own.command("SET", "key", "old");
            System.setProperty("lockredis.uri", own.uri());
            Run.of(Kept.class).assertSucceeded(1);
            Run.of(EmptyForEachClass.class).assertSucceeded(4);
        } finally {
            System.clearProperty("lockredis.uri");
        }
    }

    @Lockredis(flush = FlushMode.NEVER)
    static class Kept {
        @Test
        void test(LockredisServer server) {
            assertEquals("old", server.command("GET", "key"));
        }
    }

    @Lockredis(flush = FlushMode.BEFORE_CLASS)
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class EmptyForEachClass {
        @Test
        void one(LockredisServer server) {
            assertNull(server.command("SET", "key", "value", "GET"));
        }

        @Test
        void two(LockredisServer server) {
            assertEquals("value", server.command("GET", "key"));
        }

        @Nested
        @TestMethodOrder(MethodOrderer.MethodName.class)
        class Inner {
            @Test
            void one(LockredisServer server) {
                assertNull(server.command("SET", "key", "inner", "GET"));
            }

            @Test
            void two(LockredisServer server) {
                assertEquals("inner", server.command("GET", "key"));
            }
        }
    }

    @Lockredis
    static class Outer {
        static final Set<LockredisServer> SEEN = new HashSet<>();
        @Lockredis
        LockredisServer outer;

        @Test
        void before(LockredisServer server) {
            use(server);
        }

        void use(LockredisServer server) {
            assertSame(outer, server);
            assertTrue(server.isRunning());
            assertNull(server.command("SET", "key", "value", "GET"));
            SEEN.add(server);
        }

        @Nested
        class Inner {
            @Lockredis
            int port;

            @Test
            void one(LockredisServer server) {
                assertEquals(port, server.port());
                use(server);
            }

            @Nested
            class Innermost {
                @Test
                void two(LockredisServer server) {
                    assertEquals(port, server.port());
                    use(server);
                }
            }
        }

        @Nested
        class Last {
            @Test
            void three(LockredisServer server) {
                use(server);
            }
        }

        @Nested
        @Lockredis(password = "secret")
        class Own {
            @Test
            void four(LockredisServer server) {
                assertEquals("secret", server.password());
                assertNull(outer.password());
                assertTrue(outer.isRunning());
            }
        }
    }

    @Test
    void aNestedClassWithABareAnnotationSharesTheServerToo() {
        Run.of(AllowingOuter.class).assertSucceeded(3);
    }

    @Lockredis(password = "secret", leaks = LeakMode.ALLOWED)
    static class AllowingOuter {
        @Lockredis
        static LockredisServer outer;

        @Nested
        @Lockredis
        class Bare {
            @Lockredis
            LockredisServer field;

            @Test
            void leaks(LockredisServer server) {
                assertSame(outer, server);
                assertSame(outer, field);
                Plain.lock(server, "order:1");
            }

            @Nested
            @Lockredis
            class Inner {
                @Test
                void test(LockredisServer server) {
                    assertSame(outer, server);
                }
            }
        }

        @Nested
        class Inherited extends BareBase {
            @Test
            void test(LockredisServer server) {
                assertSame(outer, server);
            }
        }
    }

    @Lockredis
    static class BareBase {
    }

    @Test
    void aLeakInANestedClassFailsItsTestOnly() {
        Throwable failure = Run.of(LeakingOuter.class).failure("inner");
        assertTrue(failure.getMessage().contains("lock \"order:1\""), failure::toString);
    }

    @Lockredis
    static class LeakingOuter {
        @Test
        void outer() {
        }

        @Nested
        class Inner {
            @Test
            void inner(LockredisServer server) {
                Plain.lock(server, "order:1");
            }
        }
    }

    @Test
    void perMethodGivesEachTestAServer() {
        Run.of(PerMethod.class).assertSucceeded(5);
        assertEquals(5, PerMethod.SEEN.size());
        PerMethod.SEEN.forEach(server -> assertFalse(server.isRunning()));
    }

    @Lockredis(perMethod = true)
    static class PerMethod {
        static final Set<LockredisServer> SEEN = new HashSet<>();
        @Lockredis
        LockredisServer field;

        @BeforeEach
        void prepare(LockredisServer server) {
            assertSame(field, server);
            SEEN.forEach(earlier -> assertFalse(earlier.isRunning()));
            server.command("SET", "key", "value");
        }

        @Test
        void one(LockredisServer server) {
            use(server);
        }

        @RepeatedTest(2)
        void repeated(LockredisServer server) {
            use(server);
        }

        @Nested
        class Inner {
            @Test
            void two(LockredisServer server) {
                use(server);
            }

            @Test
            void three(LockredisServer server) {
                use(server);
            }
        }

        private void use(LockredisServer server) {
            assertSame(field, server);
            assertEquals("value", server.command("GET", "key"));
            assertTrue(SEEN.add(server));
        }
    }

    @Test
    void repeatedAndParameterizedTestsBeginEmpty() {
        Run.of(Templates.class).assertSucceeded(7);
        assertEquals(1, Templates.SEEN.size());
    }

    @Lockredis
    static class Templates {
        static final Set<LockredisServer> SEEN = new HashSet<>();

        @RepeatedTest(2)
        void repeated(LockredisServer server) {
            use(server);
        }

        @ParameterizedTest
        @ValueSource(strings = {"a", "b"})
        void strings(String name, LockredisServer server, @Lockredis String uri,
                @Lockredis int port) {
            assertEquals(1, name.length());
            assertEquals(server.port(), port);
            assertEquals(server.uri(), uri);
            use(server);
        }

        @ParameterizedTest
        @ValueSource(ints = 17)
        void ints(int number, @Lockredis int port) {
            assertEquals(17, number);
            assertTrue(port > 1023);
        }

        @TestFactory
        Stream<DynamicTest> dynamic(LockredisServer server) {
            use(server);
            return Stream.of("a", "b").map(name -> DynamicTest.dynamicTest(name, () ->
                    assertEquals("value", server.command("GET", "key"))));
        }

        private void use(LockredisServer server) {
            assertNull(server.command("SET", "key", "value", "GET"));
            SEEN.add(server);
        }
    }

    @Test
    void subclassesInheritTheAnnotationAndTheFields() {
        Run.of(FirstSubclass.class, SecondSubclass.class).assertSucceeded(3);
        assertEquals(2, Base.SEEN.size());
    }

    @Lockredis
    abstract static class Base {
        static final Set<LockredisServer> SEEN = new HashSet<>();
        @Lockredis
        static String sharedUri;
        @Lockredis
        private LockredisServer server;

        @Test
        void inherited(LockredisServer parameter) {
            assertSame(server, parameter);
            assertEquals(server.uri(), sharedUri);
            SEEN.add(server);
        }
    }

    static class FirstSubclass extends Base {
    }

    static class SecondSubclass extends Base {
        @Lockredis
        int port;

        @Test
        void own(LockredisServer server) {
            assertEquals(port, server.port());
        }
    }

    @Test
    void anInstanceForAllMethodsGetsItsFieldsBeforeBeforeAll() {
        Run.of(PerClass.class).assertSucceeded(2);
    }

    @Lockredis
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class PerClass {
        @Lockredis
        LockredisServer server;
        LockredisServer first;

        @BeforeAll
        void connect() {
            first = server;
            assertTrue(server.isRunning());
        }

        @Test
        void one() {
            assertSame(first, server);
        }

        @Test
        void two(LockredisServer parameter) {
            assertSame(first, parameter);
        }

        @AfterAll
        void disconnect(LockredisServer parameter) {
            assertTrue(parameter.isRunning());
        }
    }

    @Test
    void parallelMethodsHaveServersOfTheirOwn() {
        Run.parallel(Parallel.class).assertSucceeded(4);
        assertEquals(4, Parallel.SEEN.size());
    }

    @Lockredis
    static class Parallel {
        static final Set<LockredisServer> SEEN = ConcurrentHashMap.newKeySet();
        static final CountDownLatch BOTH = new CountDownLatch(2);
        @Lockredis
        LockredisServer field;

        @Test
        void one(LockredisServer server) throws InterruptedException {
            useBeside(server);
        }

        @Test
        void two(LockredisServer server) throws InterruptedException {
            useBeside(server);
        }

        @Nested
        class Inner {
            @Test
            void three(LockredisServer server) {
                use(server);
            }
        }

        @Test
        void four(LockredisServer server) {
            use(server);
        }

        private void useBeside(LockredisServer server) throws InterruptedException {
            use(server);
            BOTH.countDown();
            assertTrue(BOTH.await(1, TimeUnit.MINUTES));
            assertEquals("value", server.command("GET", "key"));
        }

        private void use(LockredisServer server) {
            assertSame(field, server);
            assertNull(server.command("SET", "key", "value", "GET"));
            assertTrue(SEEN.add(server));
        }
    }

    @Test
    void parallelMethodsMayShareTheServerOfAStaticField() {
        Throwable failure = Run.parallel(ParallelStatic.class).failure("ParallelStatic");
        assertTrue(failure.getMessage().startsWith("2 leaks on redis://"), failure::toString);
        assertEquals(1, ParallelStatic.SEEN.size());
    }

    static class ParallelStatic {
        static final Set<LockredisServer> SEEN = ConcurrentHashMap.newKeySet();
        @Lockredis
        static LockredisServer server;

        @Test
        void one() {
            SEEN.add(server);
            Plain.lock(server, "order:1");
        }

        @Test
        void two() {
            SEEN.add(server);
            Plain.lock(server, "order:2");
        }
    }

    @Test
    void parallelClassesHaveOneServerEach() {
        Run.parallelClasses(FirstClass.class, SecondClass.class).assertSucceeded(4);
        assertEquals(2, SomeClass.SEEN.size());
    }

    @Lockredis
    abstract static class SomeClass {
        static final Set<LockredisServer> SEEN = ConcurrentHashMap.newKeySet();
        static final CountDownLatch BOTH = new CountDownLatch(2);

        @RepeatedTest(2)
        void test(LockredisServer server) throws InterruptedException {
            if (SEEN.add(server)) {
                BOTH.countDown();
            }
            assertNull(server.command("SET", "key", "value", "GET"));
            assertTrue(BOTH.await(1, TimeUnit.MINUTES));
            assertEquals("value", server.command("GET", "key"));
        }
    }

    static class FirstClass extends SomeClass {
    }

    static class SecondClass extends SomeClass {
    }

    @Test
    void parallelMethodsShareAServerWithAFixedPort() {
        try (LockredisServer server = LockredisServer.start()) {
            FixedPort.port = server.port();
        }
        Run.parallel(FixedPort.class).assertSucceeded(3);
        assertEquals(1, FixedPort.SEEN.size());
    }

    static class FixedPort {
        static final Set<LockredisServer> SEEN = ConcurrentHashMap.newKeySet();
        static int port;
        @RegisterExtension
        static LockredisExtension lockredis =
                LockredisExtension.builder().server(server -> server.port(port)).build();

        @RepeatedTest(3)
        void test(LockredisServer server) {
            assertEquals(port, server.port());
            SEEN.add(server);
        }
    }
}
