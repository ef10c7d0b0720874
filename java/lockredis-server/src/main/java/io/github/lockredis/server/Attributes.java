package io.github.lockredis.server;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;

/**
 * The values of an annotation that say which server starts for a test. The annotations of the modules for JUnit
 * and Spring have these attributes, or some of them, with these types: an adapter for another test framework
 * may have them too.
 *
 * <pre>{@code
 * int port() default 0;
 * String password() default "";
 * String[] directives() default {};
 * String snapshot() default "";
 * Topology topology() default Topology.SINGLE;
 * int nodes() default 0;
 * String masterName() default "";
 * String sentinelPassword() default "";
 * }</pre>
 *
 * <p>An attribute that has its default sets nothing: the server has the default of its builder then. Two
 * annotations have equal attributes if they ask for the same server. Attributes are immutable.
 */
public final class Attributes {
    /**
     * What each attribute sets. A new one is a line here, an attribute of the annotations, and a row of the
     * table in docs/java.md.
     */
    private static final Map<String, Setter<?>> SETTERS = setters();

    private final Map<String, Object> values; // by name; without defaults. An array is a list

    private Attributes(Map<String, Object> values) {
        this.values = values;
    }

    private static Map<String, Setter<?>> setters() {
        Map<String, Setter<?>> setters = new LinkedHashMap<>();
        setters.put("port", server(Integer.class, LockredisServer.Builder::port));
        setters.put("password", server(String.class, LockredisServer.Builder::password));
        setters.put("directives", server(String[].class, LockredisServer.Builder::directives));
        setters.put("snapshot", server(String.class, LockredisServer.Builder::snapshot));
        setters.put("topology", new Setter<>(Topology.class, (builder, kind) -> { })); // see builder()
        setters.put("nodes", new Setter<>(Integer.class, LockredisTopology.Builder::nodes));
        setters.put("masterName", new Setter<>(String.class, LockredisTopology.Builder::masterName));
        setters.put("sentinelPassword", new Setter<>(String.class, LockredisTopology.Builder::sentinelPassword));
        return Collections.unmodifiableMap(setters);
    }

    private static <T> Setter<T> server(Class<T> type, BiConsumer<LockredisServer.Builder, T> set) {
        return new Setter<>(type, (builder, value) -> builder.server(server -> set.accept(server, value)));
    }

    /** Returns the attributes of an annotation that has the default for each. */
    public static Attributes none() {
        return new Attributes(Collections.emptyMap());
    }

    /**
     * Returns the attributes of an annotation.
     *
     * @param others the names of its attributes that do not concern the server: the caller reads them
     * @throws IllegalArgumentException if the annotation has an attribute that is neither one of these nor one of
     *     the server's, or has another type
     */
    public static Attributes of(Annotation annotation, String... others) {
        Objects.requireNonNull(annotation, "of(null, …): give the annotation of the test");
        Objects.requireNonNull(others, "of(…, null): give the names of its other attributes, or leave them out");
        List<String> known = Arrays.asList(others);
        Map<String, Object> values = new HashMap<>();
        for (Method attribute : annotation.annotationType().getDeclaredMethods()) {
            if (attribute.isSynthetic() || known.contains(attribute.getName())) { // coverage tools add methods
                continue;
            }
            Setter<?> setter = SETTERS.get(attribute.getName());
            if (setter == null || !setter.takes(attribute.getReturnType())) {
                throw new IllegalArgumentException("@" + annotation.annotationType().getSimpleName()
                        + ": a server has no attribute " + attribute.getReturnType().getSimpleName() + " "
                        + attribute.getName() + ". Its attributes are " + String.join(", ", SETTERS.keySet()));
            }
            Object value = comparable(read(annotation, attribute));
            if (!value.equals(comparable(attribute.getDefaultValue()))) {
                values.put(attribute.getName(), value);
            }
        }
        return new Attributes(values);
    }

    static Object read(Annotation annotation, Method attribute) {
        try {
            attribute.setAccessible(true); // the annotation may be of a class that is not public
            return attribute.invoke(annotation);
        } catch (ReflectiveOperationException | RuntimeException e) { // the module may forbid it
            throw new IllegalArgumentException("@" + attribute.getDeclaringClass().getSimpleName()
                    + ": the attribute " + attribute.getName() + " cannot be read. Make the annotation public, and"
                    + " export or open its package if it is in a module: " + e, e);
        }
    }

    private static Object comparable(Object value) {
        return value instanceof Object[] ? Arrays.asList((Object[]) value) : value;
    }

    /**
     * Returns these attributes, with a value for one that has its default. Null: nothing changes.
     *
     * @throws IllegalArgumentException if a server has no such attribute
     */
    public Attributes orElse(String name, String value) {
        Objects.requireNonNull(name, "orElse(null, …): give the name of an attribute");
        Setter<?> setter = SETTERS.get(name);
        if (setter == null || !setter.takes(String.class)) {
            throw new IllegalArgumentException("a server has no attribute String " + name);
        }
        if (value == null || values.containsKey(name)) {
            return this;
        }
        Map<String, Object> all = new HashMap<>(values);
        all.put(name, value);
        return new Attributes(all);
    }

    /** Returns the topology. */
    public Topology topology() {
        return (Topology) values.getOrDefault("topology", Topology.SINGLE);
    }

    /**
     * Returns a builder with these values. It checks the server's at the start.
     *
     * @throws IllegalArgumentException if a value for Sentinels or the number of nodes is wrong
     * @throws IllegalStateException if there is a value for Sentinels, or a number of nodes, and the topology has
     *     none
     */
    public LockredisTopology.Builder builder() {
        LockredisTopology.Builder builder = LockredisTopology.builder(topology());
        SETTERS.forEach((name, setter) -> {
            if (values.containsKey(name)) {
                setter.set(builder, values.get(name));
            }
        });
        return builder;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Attributes && values.equals(((Attributes) other).values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    /** Sets the value of an attribute in a builder. */
    private static final class Setter<T> {
        private final Class<T> type;
        private final BiConsumer<LockredisTopology.Builder, T> set;

        Setter(Class<T> type, BiConsumer<LockredisTopology.Builder, T> set) {
            this.type = type;
            this.set = set;
        }

        boolean takes(Class<?> returned) {
            return returned == type || returned == int.class && type == Integer.class;
        }

        void set(LockredisTopology.Builder builder, Object value) {
            set.accept(builder, type.cast(value instanceof List ? ((List<?>) value).toArray(new String[0]) : value));
        }
    }
}
