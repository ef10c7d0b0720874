package io.github.lockredis.junit5;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

import io.github.lockredis.server.Attributes;
import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisTopology;

/** A server that a class, a field, a parameter or an extension asks for. It is immutable. */
final class Spec {
    final String name;
    final boolean perMethod;
    final FlushMode flush;
    final LeakMode leaks;
    private final List<String> dataKeys;
    private final Object values; // of an annotation or a builder: what makes two servers differ
    private final Supplier<LockredisTopology.Builder> builder;

    Spec(String name, boolean perMethod, FlushMode flush, LeakMode leaks, List<String> dataKeys,
            Object values, Supplier<LockredisTopology.Builder> builder) {
        this.name = name;
        this.perMethod = perMethod;
        this.flush = flush;
        this.leaks = leaks;
        this.dataKeys = dataKeys;
        this.values = values;
        this.builder = builder;
    }

    /** Returns the server that an annotation asks for. */
    static Spec of(Lockredis from) {
        Attributes attributes = Attributes.of(from, "name", "perMethod", "flush", "leaks", "dataKeys");
        return new Spec(from.name(), from.perMethod(), from.flush(), from.leaks(), Arrays.asList(from.dataKeys()),
                attributes, attributes::builder);
    }

    /** Returns the server of {@code @Lockredis} without attributes, except for a name. */
    static Spec named(String name) {
        Attributes attributes = Attributes.none();
        return new Spec(name, false, FlushMode.BEFORE_EACH, LeakMode.FAIL, Collections.emptyList(), attributes,
                attributes::builder);
    }

    /** Reports whether it is {@code @Lockredis} without attributes, except for a name. */
    boolean isDefault() {
        return equals(named(name));
    }

    /** Reports whether the port is fixed: then the server runs once, not once for each test. */
    boolean hasPort() {
        return builder.get().serverConfig().port() != 0;
    }

    /** Returns the patterns of keys that are data. */
    String[] dataKeys() {
        return dataKeys.toArray(new String[0]);
    }

    LockredisTopology start() {
        return builder.get().start();
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Spec)) {
            return false;
        }
        Spec spec = (Spec) other;
        return name.equals(spec.name) && perMethod == spec.perMethod && flush == spec.flush
                && leaks == spec.leaks && dataKeys.equals(spec.dataKeys) && values.equals(spec.values);
    }

    @Override
    public int hashCode() {
        return 31 * name.hashCode() + values.hashCode();
    }
}
