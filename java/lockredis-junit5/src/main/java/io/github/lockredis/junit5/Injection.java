package io.github.lockredis.junit5;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Optional;

import org.junit.jupiter.api.extension.ExtensionConfigurationException;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;

/** Writes servers into the fields that ask for them. */
final class Injection {
    static final String TYPES = "the type must be LockredisServer, LockredisTopology,"
            + " int (the port) or String (the URI)";

    private Injection() {
    }

    /** Sets the static fields of a class, and of its superclasses. */
    static void setStatic(Scope scope) {
        for (Field field : Scope.annotated(scope.testClass())) {
            if (isStatic(field)) {
                set(field, null, scope, scope);
            }
        }
    }

    /**
     * Sets the fields of an instance.
     *
     * @param from the scope of the instance's class
     * @param user the scope that the servers are for: the test method's, or from
     */
    static void set(Object instance, Scope from, Scope user) {
        for (Field field : Scope.annotated(instance.getClass())) {
            if (!isStatic(field) && !isSetByConstructor(field)) {
                set(field, instance, from, user);
            }
        }
    }

    /**
     * Reports whether the constructor sets the field. Kotlin 2.2 can annotate both the parameter and
     * the final field of {@code class Orders(@Lockredis val port: Int)}.
     */
    private static boolean isSetByConstructor(Field field) {
        return Modifier.isFinal(field.getModifiers())
                && Arrays.stream(field.getDeclaringClass().getDeclaredConstructors())
                        .flatMap(constructor -> Arrays.stream(constructor.getParameters()))
                        .anyMatch(parameter -> parameter.isAnnotationPresent(Lockredis.class));
    }

    private static void set(Field field, Object instance, Scope from, Scope user) {
        String where = "the field " + field.getName();
        if (Modifier.isFinal(field.getModifiers())) {
            throw new ExtensionConfigurationException("@Lockredis: " + where + " of "
                    + field.getDeclaringClass().getName() + " must not be final");
        }
        TestServer server = user.use(Spec.of(Scope.annotation(field)), from, where);
        Object value = value(server, field.getType()).orElseThrow(() ->
                new ExtensionConfigurationException("@Lockredis: " + where + " of "
                        + field.getDeclaringClass().getName() + " has the type "
                        + field.getType().getName() + ": " + TYPES));
        try {
            field.setAccessible(true);
            field.set(instance, value);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new ExtensionConfigurationException("@Lockredis: set " + where + ": " + e, e);
        }
    }

    /** Returns what a field or parameter of a type gets. Empty: the type is wrong. */
    static Optional<Object> value(TestServer from, Class<?> type) {
        LockredisTopology topology = from.topology;
        if (type == LockredisTopology.class) {
            return Optional.of(topology);
        }
        if (type == LockredisServer.class) {
            return Optional.of(topology.server());
        }
        if (type == int.class || type == Integer.class) {
            return Optional.of(topology.server().port());
        }
        return type == String.class ? Optional.of(topology.uri()) : Optional.empty();
    }

    static boolean isStatic(Field field) {
        return Modifier.isStatic(field.getModifiers());
    }

    static Object read(Field field, Object instance) {
        try {
            field.setAccessible(true);
            return field.get(instance);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new ExtensionConfigurationException(
                    "@Lockredis: read the field " + field.getName() + ": " + e, e);
        }
    }
}
