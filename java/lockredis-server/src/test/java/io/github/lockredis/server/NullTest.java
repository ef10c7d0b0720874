package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.junit.jupiter.api.Test;

/** An argument that is null fails with the method's name, the place of the argument, and advice. */
class NullTest {
    @Test
    void everyMethodSaysWhatToGiveInPlaceOfNull() throws Exception {
        try (LockredisTopology topology = LockredisTopology.builder(Topology.SINGLE).start()) {
            LockredisServer server = topology.server();
            int tried = tryAll(LockredisServer.class, server, server)
                    + tryAll(LockredisServer.Builder.class, LockredisServer.builder(), server)
                    + tryAll(LockredisTopology.class, topology, server)
                    + tryAll(LockredisTopology.Builder.class,
                            LockredisTopology.builder(Topology.SENTINEL), server)
                    + tryAll(LeakCheck.class, LeakCheck.begin(server), server)
                    + tryAll(Faults.class, server.faults(), server)
                    + tryAll(Match.class, new Match(), server)
                    + tryAll(MessageMatch.class, new MessageMatch(), server)
                    + tryAll(Connections.class, new Connections(), server);
            assertTrue(tried >= 57, tried + " arguments");
        }
    }

    /** Calls all methods of a type, with null for each argument in turn. Returns how many. */
    private static int tryAll(Class<?> type, Object target, LockredisServer server) throws Exception {
        int tried = 0;
        for (Method method : type.getDeclaredMethods()) {
            if (!Modifier.isPublic(method.getModifiers()) || method.isSynthetic()
                    || method.getName().equals("equals")) {
                continue;
            }
            for (int i = 0; i < method.getParameterCount(); i++) {
                Class<?> parameter = method.getParameterTypes()[i];
                if (parameter.isPrimitive()) {
                    continue;
                }
                Object[] arguments = arguments(method, server);
                arguments[i] = null;
                assertAdvice(method, target, arguments);
                tried++;
                if (parameter == String[].class) {
                    arguments[i] = new String[] {"word", null};
                    assertAdvice(method, target, arguments);
                    tried++;
                }
            }
        }
        return tried;
    }

    private static void assertAdvice(Method method, Object target, Object[] arguments) {
        Throwable failure = assertThrows(InvocationTargetException.class,
                () -> method.invoke(target, arguments), method.toString()).getCause();
        assertEquals(NullPointerException.class, failure.getClass(), method + ": " + failure);
        assertTrue(String.valueOf(failure.getMessage()).matches(method.getName()
                + "\\((null|null, …|…, null)\\): (text \\d+ of \\d+ is null: )?give .*"),
                method + ": " + failure.getMessage());
    }

    private static Object[] arguments(Method method, LockredisServer server) {
        Object[] arguments = new Object[method.getParameterCount()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = argument(method.getParameterTypes()[i], server);
        }
        return arguments;
    }

    private static Object argument(Class<?> type, LockredisServer server) {
        Consumer<Object> consumer = value -> { };
        Predicate<Object> predicate = value -> true;
        for (Object value : new Object[] {"word", new String[] {"word"}, Duration.ofMillis(1),
            Topology.SENTINEL, server, server.config(), true, 1, consumer, predicate, new Match(), new MessageMatch(),
            new Connections()}) {
            if (type.isInstance(value) || type == int.class && value instanceof Integer
                    || type == boolean.class && value instanceof Boolean) {
                return value;
            }
        }
        assertEquals(Path.class, type);
        return Paths.get("file");
    }
}
