package io.github.lockredis.junit5;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.logging.Logger;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

import org.opentest4j.TestAbortedException;

import io.github.lockredis.server.FlushMode;
import io.github.lockredis.server.LeakMode;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import io.github.lockredis.server.Topology;

/**
 * Starts the servers of {@link Lockredis}, and the one of its builder:
 *
 * <pre>{@code
 * @RegisterExtension
 * static LockredisExtension lockredis = LockredisExtension.builder()
 *         .server(server -> server.tls(certificate, privateKey))
 *         .build();
 * }</pre>
 *
 * <p>In a static field it has one server for the class, else one for each test. Tests get the
 * server as with the annotation: as a parameter, or in a field with {@code @Lockredis}.
 *
 * <p>Methods that JUnit runs in parallel would delete each other's data. So each of them has a
 * server of its own, in its parameters and in the fields of its instance. Static fields,
 * constructors and {@code @BeforeAll} have the class's server, and so has everything when the port
 * is fixed: then the data stays between tests, and leaks are found when the class ends.
 */
public final class LockredisExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterTestExecutionCallback, AfterEachCallback,
        AfterAllCallback, InvocationInterceptor, ParameterResolver {
    private final Spec spec; // null: only the annotations ask for servers

    /** Makes the extension that {@link Lockredis} registers. */
    public LockredisExtension() {
        this(null);
    }

    private LockredisExtension(Spec spec) {
        this.spec = spec;
    }

    /** Returns a builder for an extension in a field. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns the server of the builder, or null. */
    Spec spec() {
        return spec;
    }

    /**
     * Reports whether this instance acts in a context. A class may have several ones: by
     * annotations and in fields. The first acts for all, as two may not resolve the same parameter.
     */
    private boolean acts(ExtensionContext context) {
        return this == context.getStore(Scope.NAMESPACE)
                .getOrComputeIfAbsent("extension", key -> this, LockredisExtension.class);
    }

    private Scope scope(ExtensionContext context) {
        Scope scope = Scope.of(context);
        if (spec != null) {
            scope.declareEager(spec);
        }
        return scope;
    }

    /** Looks again for what the test before has left, before the next test's own code runs. */
    @Override
    public <T> T interceptTestClassConstructor(Invocation<T> constructor,
            ReflectiveInvocationContext<Constructor<T>> invocation, ExtensionContext context) throws Throwable {
        Scope.of(context).lookAgain();
        return constructor.proceed();
    }

    /** Looks again for what the last test has left, before the class's own code runs. */
    @Override
    public void interceptAfterAllMethod(Invocation<Void> method, ReflectiveInvocationContext<Method> invocation,
            ExtensionContext context) throws Throwable {
        Scope.of(context).lookAgain();
        method.proceed();
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        Scope scope = scope(context);
        scope.lookAgain(); // before BeforeAll methods of a nested class
        if (!acts(context)) {
            return;
        }
        Optional<Object> instance = context.getTestInstance(); // if the methods share it
        instance.ifPresent(object -> scope.declareExtensions(object.getClass(), object));
        scope.beforeClass();
        scope.startClass();
        Injection.setStatic(scope);
        instance.ifPresent(object -> Injection.set(object, scope, scope));
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        Scope method = scope(context);
        if (!acts(context)) {
            return;
        }
        if (method.parent().hasOneInstance()) { // no constructor has run since the test before
            method.parent().lookAgain();
        }
        for (Scope scope = method.parent(); scope != null; scope = scope.parent()) {
            if (!scope.hasOneInstance()) {
                instance(context, scope).ifPresent(o -> method.declareExtensions(o.getClass(), o));
            }
        }
        method.beforeTest();
        method.startMethod();
        for (Scope scope = method.parent(); scope != null; scope = scope.parent()) {
            Scope from = scope;
            Scope user = scope.hasOneInstance() ? scope : method;
            instance(context, scope).ifPresent(object -> Injection.set(object, from, user));
        }
    }

    private static Optional<?> instance(ExtensionContext context, Scope scope) {
        return context.getRequiredTestInstances().findInstance(scope.testClass());
    }

    /** Tells what the servers look like when a test has failed, before AfterEach methods change it. */
    @Override
    public void afterTestExecution(ExtensionContext context) {
        failure(context).filter(failure -> acts(context)).ifPresent(Scope.of(context)::describe);
    }

    /** Returns what a test has thrown, unless that only aborts it. */
    private static Optional<Throwable> failure(ExtensionContext context) {
        return context.getExecutionException().filter(failure -> !(failure instanceof TestAbortedException));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (acts(context)) {
            Scope scope = Scope.of(context);
            failure(context).ifPresent(scope::describe); // a BeforeEach or AfterEach method may have failed
            List<String> leaks = scope.afterTest();
            List<String> ends = scope.unexpectedEnds();
            if (!ends.isEmpty()) { // it fails a test with a false assumption too
                ends.addAll(leaks);
                throw new AssertionError(String.join("\n", ends));
            }
            report(leaks, context);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (acts(context)) {
            Scope.of(context).lookAgain();
            report(Scope.of(context).afterClass(), context);
        }
    }

    /** Fails a test or a class for its leaks. An earlier failure gets them as suppressed. */
    private static void report(List<String> texts, ExtensionContext context) {
        if (texts.isEmpty()) {
            return;
        }
        AssertionError leaks = new AssertionError(String.join("\n", texts));
        Optional<Throwable> failure = context.getExecutionException();
        if (!failure.isPresent()) {
            throw leaks;
        }
        if (failure.get() instanceof TestAbortedException) { // reports do not show what it suppresses
            Logger.getLogger(LockredisExtension.class.getName()).warning(name(context)
                    + " is aborted, and left " + leaks.getMessage());
        }
        failure.get().addSuppressed(leaks);
    }

    /** Returns the name of a test or a class for the log. */
    private static String name(ExtensionContext context) {
        String type = context.getRequiredTestClass().getSimpleName();
        return context.getTestMethod().map(method -> type + "." + method.getName()).orElse("class " + type);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return acts(context) && (parameter.isAnnotated(Lockredis.class)
                || (type == LockredisServer.class || type == LockredisTopology.class)
                && scope(context).find("").isPresent());
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Spec asked = parameter.findAnnotation(Lockredis.class).map(Spec::of).orElse(Spec.named(""));
        String where = "the parameter " + parameter.getParameter().getName();
        Class<?> type = parameter.getParameter().getType();
        Scope scope = scope(context);
        TestServer server = scope.use(asked, scope, where);
        return Injection.value(server, type).orElseThrow(() ->
                new ParameterResolutionException("@Lockredis: " + where + " has the type "
                        + type.getName() + ": " + Injection.TYPES));
    }

    /** Collects the values for an extension. */
    public static final class Builder {
        private String name = "";
        private boolean perMethod;
        private FlushMode flush = FlushMode.BEFORE_EACH;
        private LeakMode leaks = LeakMode.FAIL;
        private List<String> dataKeys = Collections.emptyList();
        private Topology kind; // null: not chosen
        private boolean hasSentinels;
        private Consumer<LockredisTopology.Builder> setup = topology -> { };

        private Builder() {
        }

        /** Names the server, for a class with several ones: {@code @Lockredis(name = "a")}. */
        public Builder name(String name) {
            this.name = Objects.requireNonNull(name,
                    "name(null): give a name, or leave the call out for a class with one server");
            return this;
        }

        /** Starts a server for each test method, also in a static field. */
        public Builder perMethod(boolean perMethod) {
            this.perMethod = perMethod;
            return this;
        }

        /** Sets when all data is deleted. The default: before each test. */
        public Builder flush(FlushMode flush) {
            this.flush = Objects.requireNonNull(flush, "flush(null): give FlushMode.BEFORE_EACH, the default,"
                    + " BEFORE_CLASS or NEVER");
            return this;
        }

        /** Sets what happens to a test that leaves something behind. The default: it fails. */
        public Builder leaks(LeakMode leaks) {
            this.leaks = Objects.requireNonNull(leaks,
                    "leaks(null): give LeakMode.FAIL, the default, or LeakMode.ALLOWED");
            return this;
        }

        /** Sets patterns of keys that are data and never leaks, as in KEYS. The default: none. */
        public Builder dataKeys(String... patterns) {
            Objects.requireNonNull(patterns, "dataKeys(null): give patterns of keys, or leave the call out");
            this.dataKeys = Arrays.asList(patterns.clone());
            return this;
        }

        /** Sets the server's values. The function is called before each start. */
        public Builder server(Consumer<LockredisServer.Builder> setup) {
            Objects.requireNonNull(setup, "server(null): give a function that sets the server's values,"
                    + " or leave the call out");
            this.setup = this.setup.andThen(topology -> topology.server(setup));
            return this;
        }

        /** Sets what starts: a server alone, behind three Sentinels, or another topology. */
        public Builder topology(Topology kind) {
            this.kind = Objects.requireNonNull(kind,
                    "topology(null): give a topology, such as Topology.CLUSTER");
            return this;
        }

        /**
         * Sets the number of servers: a cluster's nodes, or the primaries, or the nodes that a proxy stands for. The
         * default is 1 for a cluster, else 3. The start fails with the other topologies.
         */
        public Builder nodes(int count) {
            this.setup = this.setup.andThen(topology -> topology.nodes(count));
            return this;
        }

        /** Starts the server behind Sentinels with other values than the defaults. */
        public Builder sentinels(Consumer<LockredisTopology.Builder> setup) {
            Objects.requireNonNull(setup, "sentinels(null): give a function that sets the Sentinels'"
                    + " values, or leave the call out");
            this.setup = this.setup.andThen(setup);
            hasSentinels = true;
            return this;
        }

        /**
         * Returns the extension.
         *
         * @throws IllegalStateException if the topology has no Sentinels, and there are values for
         *     them
         */
        public LockredisExtension build() {
            if (hasSentinels && kind != null && kind != Topology.SENTINEL) {
                throw new IllegalStateException("sentinels: the topology " + kind
                        + " has no Sentinels");
            }
            Topology chosen = kind != null ? kind
                    : hasSentinels ? Topology.SENTINEL : Topology.SINGLE;
            Consumer<LockredisTopology.Builder> values = setup;
            return new LockredisExtension(new Spec(name, perMethod, flush, leaks, dataKeys, new Object(), () -> {
                LockredisTopology.Builder topology = LockredisTopology.builder(chosen);
                values.accept(topology);
                return topology;
            }));
        }
    }
}
