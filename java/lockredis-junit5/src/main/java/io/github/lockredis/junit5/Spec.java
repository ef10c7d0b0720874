package io.github.lockredis.junit5;

import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;

/** A server that a class, a field, a parameter or an extension asks for. It is immutable. */
final class Spec {
    final String name;
    final boolean perMethod;
    final FlushMode flush;
    final LeakMode leaks;
    private final Object values; // of an annotation or a builder: what makes two servers differ
    private final Topology kind;
    private final Consumer<LockredisTopology.Builder> setup;

    Spec(String name, boolean perMethod, FlushMode flush, LeakMode leaks, Object values,
            Topology kind, Consumer<LockredisTopology.Builder> setup) {
        this.name = name;
        this.perMethod = perMethod;
        this.flush = flush;
        this.leaks = leaks;
        this.values = values;
        this.kind = kind;
        this.setup = setup;
    }

    /** Returns the server that an annotation asks for. */
    static Spec of(Lockredis from) {
        List<String> directives = Arrays.asList(from.directives());
        Object values = Arrays.asList(from.port(), from.password(), directives, from.topology(),
                from.masterName(), from.sentinelPassword());
        return new Spec(from.name(), from.perMethod(), from.flush(), from.leaks(), values,
                from.topology(), topology -> setUp(topology, from));
    }

    private static void setUp(LockredisTopology.Builder topology, Lockredis from) {
        topology.server(server -> setUp(server, from));
        if (!from.masterName().isEmpty()) {
            topology.masterName(from.masterName());
        }
        if (!from.sentinelPassword().isEmpty()) {
            topology.sentinelPassword(from.sentinelPassword());
        }
    }

    private static void setUp(LockredisServer.Builder server, Lockredis from) {
        server.port(from.port());
        if (!from.password().isEmpty()) {
            server.password(from.password());
        }
        server.directives(from.directives());
    }

    /** Returns the server of {@code @Lockredis} without attributes, except for a name. */
    static Spec named(String name) {
        return new Spec(name, false, FlushMode.BEFORE_EACH, LeakMode.FAIL,
                Arrays.asList(0, "", Arrays.asList(), Topology.SINGLE, "", ""),
                Topology.SINGLE, topology -> { });
    }

    /** Reports whether it is {@code @Lockredis} without attributes, except for a name. */
    boolean isDefault() {
        return equals(named(name));
    }

    private LockredisTopology.Builder builder() {
        LockredisTopology.Builder builder = LockredisTopology.builder(kind);
        setup.accept(builder);
        return builder;
    }

    /** Reports whether the port is fixed: then the server runs once, not once for each test. */
    boolean hasPort() {
        return builder().serverConfig().port() != 0;
    }

    LockredisTopology start() {
        return builder().start();
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Spec)) {
            return false;
        }
        Spec spec = (Spec) other;
        return name.equals(spec.name) && perMethod == spec.perMethod && flush == spec.flush
                && leaks == spec.leaks && values.equals(spec.values);
    }

    @Override
    public int hashCode() {
        return 31 * name.hashCode() + values.hashCode();
    }
}
