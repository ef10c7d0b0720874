package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.annotation.Annotation;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;

import org.junit.jupiter.api.Test;

class AttributesTest {
    @Retention(RetentionPolicy.RUNTIME)
    private @interface Ours {
        String name() default "";

        int port() default 0;

        String password() default "";

        String[] directives() default {};

        Topology topology() default Topology.SINGLE;

        String masterName() default "mymaster";

        String sentinelPassword() default "";
    }

    @Retention(RetentionPolicy.RUNTIME)
    private @interface Unknown {
        int pord() default 0;
    }

    @Retention(RetentionPolicy.RUNTIME)
    private @interface WrongType {
        long port() default 0;
    }

    @Ours
    private static class Plain {
    }

    @Ours(name = "archive", masterName = "mymaster")
    private static class Named {
    }

    @Ours(port = 7000, password = "secret", directives = {"maxmemory 10mb", "port 7001"})
    private static class Single {
    }

    @Ours(topology = Topology.SENTINEL, masterName = "orders", sentinelPassword = "sesame")
    private static class Behind {
    }

    @Ours(masterName = "orders")
    private static class NoSentinels {
    }

    private static Attributes of(Class<?> test) {
        return Attributes.of(test.getAnnotation(Ours.class), "name");
    }

    @Test
    void whatHasItsDefaultSetsNothing() {
        assertEquals(Attributes.none(), of(Plain.class));
        assertEquals(Attributes.none().hashCode(), of(Named.class).hashCode());
        assertEquals(Attributes.none(), of(Named.class));
        assertNotEquals(Attributes.none(), of(Single.class));
        assertEquals(of(Single.class), of(Single.class));
        LockredisTopology.Builder builder = of(Plain.class).builder();
        assertEquals(0, builder.serverConfig().port());
        assertEquals(Collections.emptyList(), builder.serverConfig().directives());
        assertEquals("mymaster", builder.masterName);
    }

    @Test
    void theAttributesSetTheBuildersValues() {
        LockredisConfig config = of(Single.class).builder().serverConfig();
        assertEquals(7001, config.port()); // directives come last
        assertEquals("secret", config.password());
        assertEquals(Arrays.asList(Arrays.asList("maxmemory", "10mb")), config.directives());
        LockredisTopology.Builder behind = of(Behind.class).builder();
        assertEquals(Topology.SENTINEL, of(Behind.class).topology());
        assertEquals("orders", behind.masterName);
        assertEquals("sesame", behind.sentinelPassword);
        Attributes without = of(NoSentinels.class);
        String text = assertThrows(IllegalStateException.class, without::builder).getMessage();
        assertEquals("masterName: the topology SINGLE has no Sentinels", text);
    }

    @Test
    void aValueForADefaultReplacesNoOther() {
        Attributes behind = of(Behind.class);
        assertSame(behind, behind.orElse("masterName", "other"));
        assertSame(behind, behind.orElse("password", null));
        assertEquals("secret", behind.orElse("password", "secret").builder().serverConfig().password());
        assertThrows(IllegalArgumentException.class, () -> behind.orElse("pasword", "secret"));
        assertThrows(IllegalArgumentException.class, () -> behind.orElse("port", "7000"));
    }

    @Unknown
    @WrongType
    private static class Wrong {
    }

    @Test
    void anAttributeThatNoServerHasIsRefused() {
        assertRefused("@Unknown: a server has no attribute int pord. Its attributes are port, password, ",
                Wrong.class.getAnnotation(Unknown.class));
        assertRefused("@WrongType: a server has no attribute long port. Its attributes are port, password, ",
                Wrong.class.getAnnotation(WrongType.class));
        assertRefused("@Ours: a server has no attribute String name. ", Plain.class.getAnnotation(Ours.class));
    }

    @Test
    void anAttributeThatAModuleHidesIsRefused() throws Exception {
        Method hidden = Class.forName("jdk.internal.vm.annotation.Contended").getMethod("value");
        String message = assertThrows(IllegalArgumentException.class, () -> Attributes.read(null, hidden)).getMessage();
        assertTrue(message.startsWith("@Contended: the attribute value cannot be read. Make the annotation public,"
                + " and export or open its package if it is in a module: "
                + "java.lang.reflect.InaccessibleObjectException: "), message);
    }

    private static void assertRefused(String text, Annotation annotation) {
        String message = assertThrows(IllegalArgumentException.class, () -> Attributes.of(annotation)).getMessage();
        assertEquals(text, message.substring(0, Math.min(text.length(), message.length())));
    }
}
