package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockredis.server.LockredisServer;

/** Servers of classes that run several times. */
class ParameterizedClassTest {
    @Test
    void allInvocationsShareTheServerOfTheClass() {
        Run.of(Shared.class).assertSucceeded(6);
        assertEquals(1, Shared.SEEN.size());
        assertFalse(Shared.SEEN.iterator().next().isRunning());
    }

    @Lockredis
    @ParameterizedClass
    @ValueSource(strings = {"a", "b"})
    static class Shared {
        static final Set<LockredisServer> SEEN = new HashSet<>();
        @Lockredis
        static LockredisServer ofClass;

        final LockredisServer ofConstructor;
        final String name;
        @Lockredis
        int port;

        Shared(String name, LockredisServer server) {
            this.name = name;
            ofConstructor = server;
        }

        @BeforeAll
        static void before(LockredisServer server) {
            SEEN.add(server);
        }

        @BeforeParameterizedClassInvocation(injectArguments = false)
        static void beforeInvocation(LockredisServer server) {
            SEEN.add(server);
        }

        void use(LockredisServer server) {
            assertSame(ofClass, server);
            assertSame(ofConstructor, server);
            assertEquals(port, server.port());
            assertNull(server.command("SET", "key", name, "GET"));
            SEEN.add(server);
        }

        @Test
        void one(LockredisServer server) {
            use(server);
        }

        @Test
        void two(LockredisServer server) {
            use(server);
        }

        @Nested
        class Inner {
            @Test
            void three(LockredisServer server) {
                use(server);
            }
        }
    }

    @Test
    void aFieldMayHaveTheParameter() {
        Run.of(PerMethod.class, OneInstance.class).assertSucceeded(8);
        assertEquals(4, PerMethod.SEEN.size());
    }

    @Lockredis(perMethod = true)
    @ParameterizedClass
    @ValueSource(ints = {1, 2})
    static class PerMethod {
        static final Set<LockredisServer> SEEN = new HashSet<>();
        @Parameter
        int number;

        @Test
        void one(LockredisServer server) {
            assertNotEquals(0, number);
            assertTrue(SEEN.add(server));
        }

        @Test
        void two(LockredisServer server) {
            one(server);
        }
    }

    @Lockredis
    @ParameterizedClass
    @ValueSource(ints = {1, 2})
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class OneInstance {
        @Parameter
        int number;
        @Lockredis
        LockredisServer server;

        @BeforeAll
        void before(LockredisServer other) {
            assertSame(server, other);
        }

        @Test
        void one() {
            assertNull(server.command("SET", "key", "value", "GET"));
        }

        @Test
        void two() {
            one();
        }
    }

    @Test
    void aLeakFailsItsTestOnly() {
        Run run = Run.of(Leaking.class);
        assertTrue(run.failure("test").getMessage().contains("lock \"order:2\""));
        assertEquals(1, run.failures().size(), () -> run.failures().toString());
    }

    @Lockredis
    @ParameterizedClass
    @ValueSource(ints = {1, 2, 3})
    static class Leaking {
        @Parameter
        int number;

        @Test
        void test(LockredisServer server) {
            if (number == 2) {
                Plain.lock(server, "order:" + number);
            }
        }
    }

    @Test
    void parallelInvocationsHaveServersOfTheirOwn() {
        Run.parallel(Parallel.class).assertSucceeded(4);
        assertEquals(4, Parallel.SEEN.size());
    }

    @Lockredis
    @ParameterizedClass
    @ValueSource(ints = {1, 2})
    static class Parallel {
        static final Set<LockredisServer> SEEN = ConcurrentHashMap.newKeySet();

        @Parameter
        int number;

        @Test
        void one(LockredisServer server) {
            assertNull(server.command("SET", "key", "value", "GET"));
            SEEN.add(server);
        }

        @Test
        void two(LockredisServer server) {
            one(server);
        }
    }
}
