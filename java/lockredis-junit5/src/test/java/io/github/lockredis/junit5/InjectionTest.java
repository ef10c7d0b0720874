package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Arrays;
import java.util.Map;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;

/** Where a test may get its server. */
class InjectionTest {
    private static String config(LockredisServer server, String directive) {
        return server.command("CONFIG", "GET", directive).toString();
    }

    @Test
    void theBuilderSaysWhatToGiveInPlaceOfNull() {
        LockredisExtension.Builder builder = LockredisExtension.builder();
        Executable[] calls = {() -> builder.name(null), () -> builder.leaks(null), () -> builder.flush(null),
            () -> builder.server(null), () -> builder.topology(null), () -> builder.sentinels(null),
            () -> builder.dataKeys((String[]) null)};
        for (Executable call : calls) {
            String text = assertThrows(NullPointerException.class, call).getMessage();
            assertTrue(text.matches("[a-zA-Z]+\\(null\\): give .*"), text);
        }
    }

    @Test
    void fieldsAndParametersGetTheServerOfTheClass() {
        Run.of(Everywhere.class).assertSucceeded(1);
    }

    @Lockredis
    static class Everywhere {
        @Lockredis
        private static LockredisServer shared;
        static LockredisServer first;
        @Lockredis
        LockredisServer server;
        @Lockredis
        private int port;
        @Lockredis
        String uri;
        final LockredisServer constructed;

        Everywhere(LockredisServer server) {
            constructed = server;
        }

        @BeforeAll
        static void beforeAll(LockredisServer server, @Lockredis String uri) {
            assertSame(shared, server);
            assertEquals(server.uri(), uri);
            first = server;
        }

        @BeforeEach
        void beforeEach(LockredisServer parameter) {
            assertSame(shared, parameter);
            assertSame(shared, server);
        }

        @Test
        void test(LockredisServer one, @Lockredis LockredisServer two, @Lockredis int three,
                @Lockredis Integer four, @Lockredis String five) {
            for (LockredisServer found : Arrays.asList(one, two, server, constructed, first)) {
                assertSame(shared, found);
            }
            for (int found : Arrays.asList(three, four, port)) {
                assertEquals(shared.port(), found);
            }
            assertEquals(shared.uri(), five);
            assertEquals(shared.uri(), uri);
        }
    }

    @Test
    void aFieldThatTheConstructorSetsMayBeFinal() {
        Run.of(LikeKotlin.class).assertSucceeded(1);
    }

    static class LikeKotlin {
        @Lockredis
        private final int port;

        LikeKotlin(@Lockredis int port) {
            this.port = port;
        }

        @Test
        void test(@Lockredis int parameter) {
            assertEquals(port, parameter);
        }
    }

    @Test
    void aClassNeedsNoAnnotation() {
        Run.of(StaticFieldOnly.class, FieldOnly.class, ParameterOnly.class).assertSucceeded(5);
    }

    static class StaticFieldOnly {
        @Lockredis(directives = "maxmemory 10mb")
        static LockredisServer server;

        @Test
        void test(LockredisServer parameter) {
            assertSame(server, parameter);
            assertEquals("[maxmemory, 10485760]", config(server, "maxmemory"));
        }
    }

    static class FieldOnly {
        @Lockredis
        LockredisServer server;
        static int port;

        @Test
        void one() {
            assertSamePort();
        }

        @Test
        void two() {
            assertSamePort();
        }

        private void assertSamePort() {
            assertTrue(port == 0 || port == server.port());
            port = server.port();
            server.command("INCR", "counter");
            assertEquals("1", server.command("GET", "counter"));
        }
    }

    static class ParameterOnly {
        @Test
        void one(@Lockredis LockredisServer server, @Lockredis int port) {
            assertEquals(server.port(), port);
            assertNull(server.command("SET", "key", "value", "GET"));
        }

        @Test
        void two(@Lockredis LockredisServer server) {
            assertNull(server.command("SET", "key", "value", "GET"));
        }
    }

    @Test
    void attributesConfigureTheServer() {
        Run.of(Configured.class, Meta.class).assertSucceeded(2);
    }

    @Lockredis(password = "secret", directives = {"maxmemory '10mb'", "databases 3"})
    static class Configured {
        @Test
        void test(LockredisServer server, @Lockredis String uri) {
            assertEquals("redis://:secret@127.0.0.1:" + server.port(), uri);
            assertEquals("[databases, 3]", config(server, "databases"));
            assertEquals("[maxmemory, 10485760]", config(server, "maxmemory"));
        }
    }

    @Lockredis(directives = "maxmemory 10mb")
    @Retention(RetentionPolicy.RUNTIME)
    @interface SmallRedis {
    }

    @SmallRedis
    static class Meta {
        @SmallRedis
        String uri;

        @Test
        void test(LockredisServer server) {
            assertEquals("[maxmemory, 10485760]", config(server, "maxmemory"));
            assertEquals(server.uri(), uri);
        }
    }

    @Test
    void severalServersHaveNames() {
        Run.of(Several.class).assertSucceeded(1);
    }

    @Lockredis
    static class Several {
        @Lockredis(name = "a")
        static LockredisServer a;
        @Lockredis(name = "b", password = "secret")
        static LockredisServer b;

        @Test
        void test(LockredisServer unnamed, @Lockredis(name = "a") int portOfA,
                @Lockredis(name = "b") String uriOfB,
                @Lockredis(directives = "databases 3") LockredisServer own,
                @Lockredis(directives = "databases 3") int portOfOwn) {
            assertEquals(a.port(), portOfA);
            assertEquals(b.uri(), uriOfB);
            assertEquals("secret", b.password());
            assertEquals(own.port(), portOfOwn);
            assertEquals(4, Arrays.asList(unnamed, a, b, own).stream().distinct().count());
        }
    }

    @Test
    void anExtensionInAFieldConfiguresTheServer() {
        Run.of(StaticExtension.class, InstanceExtension.class, PerClassExtension.class)
                .assertSucceeded(5);
    }

    static class StaticExtension {
        @Lockredis // before the extension, to show that the order does not matter
        static LockredisServer field;
        @RegisterExtension
        static LockredisExtension lockredis =
                LockredisExtension.builder().server(server -> server.password("secret")).build();
        @RegisterExtension
        static LockredisExtension other = LockredisExtension.builder().name("other").build();

        @Test
        void test(LockredisServer server, @Lockredis(name = "other") LockredisServer second) {
            assertSame(field, server);
            assertEquals("secret", server.password());
            assertNotEquals(server.port(), second.port());
        }
    }

    static class InstanceExtension {
        static int last;
        @RegisterExtension
        LockredisExtension lockredis =
                LockredisExtension.builder().server(server -> server.password("secret")).build();
        @Lockredis
        String uri;

        @Test
        void one(LockredisServer server) {
            assertOwn(server);
        }

        @Test
        void two(LockredisServer server) {
            assertOwn(server);
        }

        private void assertOwn(LockredisServer server) {
            assertEquals("secret", server.password());
            assertEquals(server.uri(), uri);
            assertNotEquals(last, server.port());
            last = server.port();
        }
    }

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class PerClassExtension {
        @RegisterExtension
        LockredisExtension lockredis =
                LockredisExtension.builder().server(server -> server.password("secret")).build();
        @Lockredis
        LockredisServer field;

        @BeforeAll
        void beforeAll(LockredisServer server) {
            assertSame(field, server);
        }

        @Test
        void one(LockredisServer server) {
            assertSame(field, server);
        }

        @Test
        void two(LockredisServer server) {
            assertEquals("secret", server.password());
            assertSame(field, server);
        }
    }

    @Test
    void mistakesHaveClearErrors() {
        assertError(WrongParameter.class, "test", "@Lockredis: the parameter ");
        String wrongType = " has the type long: the type must be LockredisServer, "
                + "LockredisTopology, int (the port) or String (the URI)";
        assertError(WrongParameter.class, "test", wrongType);
        assertError(WrongField.class, "WrongField",
                "the field port of " + WrongField.class.getName() + wrongType);
        assertError(FinalField.class, "FinalField", "@Lockredis: the field uri of "
                + FinalField.class.getName() + " must not be final");
        assertError(PerMethodStatic.class, "PerMethodStatic",
                "@Lockredis(perMethod = true): the field server outlives a test method");
        assertError(Conflict.class, "Conflict",
                "the field server asks for other values than the server of "
                        + Conflict.class.getName() + " has. Give the other server a name");
        assertError(TwoFieldsOneName.class, "TwoFieldsOneName", "the fields plain and secret of "
                + TwoFieldsOneName.class.getName()
                + " are both the server \"a\", and only secret has its values");
        // A version of JUnit says it of the class, an earlier one of its test.
        assertTrue(Run.of(TwoFields.class).failure().getMessage().contains("the fields plain and own of "
                + TwoFields.class.getName() + " are both the server, and only own has its values"));
        assertError(OpenQuote.class, "OpenQuote",
                "directive \"maxmemory \"10mb\": a quote has no end");
        assertError(WrongDirective.class, "WrongDirective", "maxmemory nonsense");
    }

    private static void assertError(Class<?> type, String where, String text) {
        Throwable failure = Run.of(type).failure(where);
        assertTrue(failure.getMessage().contains(text), failure::toString);
    }

    static class WrongParameter {
        @Test
        void test(@Lockredis long port) {
        }
    }

    static class WrongField {
        @Lockredis
        static long port;

        @Test
        void test() {
        }
    }

    static class FinalField {
        @Lockredis
        static final String uri = null;

        @Test
        void test() {
        }
    }

    @Lockredis(perMethod = true)
    static class PerMethodStatic {
        @Lockredis
        static LockredisServer server;

        @Test
        void test() {
        }
    }

    @Lockredis
    static class Conflict {
        @Lockredis(password = "secret")
        static LockredisServer server;

        @Test
        void test() {
        }
    }

    static class TwoFieldsOneName {
        @Lockredis(name = "a")
        static LockredisServer plain;

        @Lockredis(name = "a", password = "secret")
        static LockredisServer secret;

        @Test
        void test() {
        }
    }

    static class TwoFields {
        @Lockredis(perMethod = true)
        LockredisServer own;

        @Lockredis
        LockredisServer plain;

        @Test
        void test() {
        }
    }

    @Test
    void aFieldWithoutAttributesIsAnotherViewOfAServer() {
        Run.of(Views.class).assertSucceeded(1);
    }

    static class ViewsBase {
        @Lockredis(name = "a")
        LockredisServer server;
    }

    static class Views extends ViewsBase {
        @Lockredis(name = "a")
        static int port;

        @Lockredis(name = "a", password = "secret")
        static LockredisServer secret;

        @Test
        void test() {
            assertSame(secret, server);
            assertEquals(secret.port(), port);
        }
    }

    @Lockredis(directives = "maxmemory \"10mb")
    static class OpenQuote {
        @Test
        void test() {
        }
    }

    @Lockredis(directives = "maxmemory nonsense")
    static class WrongDirective {
        @Test
        void test() {
        }
    }

    @Test
    void aTestThatClosesTheServerFailsAndDisturbsNoOther() {
        Map<String, Throwable> failures = Run.of(Closing.class).failures();
        assertEquals("[aCloses, bClosesTheTopology, cForgetsALock, dClosesItsOwn]",
                failures.keySet().toString(), failures::toString);
        for (Throwable failure : failures.values()) {
            assertTrue(failure instanceof IllegalStateException, failure::toString);
            assertTrue(failure.getMessage().startsWith("close: a test must not close lockredis at redis://")
                    && failure.getMessage().endsWith(": JUnit does. For an outage call stop()"),
                    failure::toString);
        }
        String leak = failures.get("cForgetsALock").getSuppressed()[1].getMessage();
        assertTrue(leak.contains("lock \"order:1\" is held by"), leak);
    }

    @Lockredis
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class Closing {
        @Test
        void aCloses(LockredisServer server) {
            server.close();
        }

        @Test
        void bClosesTheTopology(LockredisTopology topology) {
            topology.close();
        }

        @Test
        void cForgetsALock(LockredisServer server) {
            Plain.lock(server, "order:1");
            server.close();
        }

        @Test
        void dClosesItsOwn(@Lockredis(perMethod = true) LockredisServer own) {
            own.close();
        }

        @Test
        void eRuns(LockredisServer server) {
            assertEquals("[]", server.leaks().toString());
        }
    }
}
