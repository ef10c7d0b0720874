package io.github.lockredis.junit5;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;

import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;

import io.github.lockredis.server.ServerState;

/**
 * The servers of one test class or one test method. It is in the store of the class's or the
 * method's context, and so are its servers: they end with the context. A nested class's scope has
 * the enclosing class's as its parent, and uses the servers that are declared there.
 */
final class Scope {
    static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(LockredisExtension.class);

    private final ExtensionContext context;
    private final Scope parent; // of the enclosing class, or of a method's class; may be null
    private final Map<String, Spec> declared = new LinkedHashMap<>(); // guarded by this, by name
    private final Set<Spec> eager = new LinkedHashSet<>(); // guarded by this; start unasked
    private final Queue<TestServer> started = new ConcurrentLinkedQueue<>();
    private boolean isDescribed; // of a method: its failure has the servers' states. Used by its thread only

    private Scope(ExtensionContext context, Scope parent) {
        this.context = context;
        this.parent = parent;
    }

    /** Returns the scope of a test method's or a class's context. */
    static Scope of(ExtensionContext context) {
        ExtensionContext above = context;
        do {
            above = above.getParent().orElse(null);
        } while (above != null && !isClass(above));
        Scope parent = above == null ? null : of(above);
        Object key = Arrays.asList("scope", context.getUniqueId());
        return context.getStore(NAMESPACE).getOrComputeIfAbsent(key, k -> {
            Scope scope = new Scope(context, parent);
            if (!scope.isMethod()) {
                scope.declareClass(context.getRequiredTestClass());
            }
            return scope;
        }, Scope.class);
    }

    private static boolean isClass(ExtensionContext context) {
        return context.getElement().filter(Class.class::isInstance).isPresent();
    }

    private boolean isMethod() {
        return !isClass(context);
    }

    Scope parent() {
        return parent;
    }

    /** Returns the scope's class, for a method the class that JUnit runs it for. */
    Class<?> testClass() {
        return context.getRequiredTestClass();
    }

    /** Reports whether the class has one instance, which all of its methods share. */
    boolean hasOneInstance() {
        return context.getTestInstanceLifecycle()
                .filter(Lifecycle.PER_CLASS::equals).isPresent();
    }

    private void declareClass(Class<?> type) {
        AnnotationSupport.findAnnotation(type, Lockredis.class).map(Spec::of)
                .filter(spec -> !spec.isDefault() || !find(spec.name).isPresent())
                .ifPresent(this::declareEager);
        declareExtensions(type, null);
        List<Field> fields = annotated(type);
        fields.forEach(field -> requireSame(field, fields));
        for (Field field : fields) {
            Spec spec = Spec.of(annotation(field));
            if (!spec.isDefault() && !spec.equals(find(spec.name).orElse(null))) {
                declare(spec, "the field " + field.getName());
            }
        }
    }

    /**
     * Fails if a field without attributes takes the server that another field sets up, and both have one
     * class and type: they would be the same, and two servers are meant. A field of another type is another
     * view of the server, and a subclass may set up the server of its superclass's field.
     */
    private static void requireSame(Field field, List<Field> fields) {
        Spec spec = Spec.of(annotation(field));
        for (Field other : fields) {
            Spec values = Spec.of(annotation(other));
            if (spec.isDefault() && !spec.equals(values) && values.name.equals(spec.name)
                    && field.getType() == other.getType()
                    && field.getDeclaringClass() == other.getDeclaringClass()) {
                throw new ExtensionConfigurationException("@Lockredis: the fields " + field.getName()
                        + " and " + other.getName() + " of " + field.getDeclaringClass().getName()
                        + " are both " + serverOf(spec) + ", and only " + other.getName()
                        + " has its values. Leave one field out, or give its server another name:"
                        + " @Lockredis(name = \"other\")");
            }
        }
    }

    private static String serverOf(Spec spec) {
        return spec.name.isEmpty() ? "the server" : "the server \"" + spec.name + "\"";
    }

    /** Declares the servers of extensions in fields: static ones, or those of an instance. */
    void declareExtensions(Class<?> type, Object instance) {
        Predicate<Field> wanted = field -> field.getType() == LockredisExtension.class
                && Injection.isStatic(field) == (instance == null);
        for (Field field : AnnotationSupport.findAnnotatedFields(type, RegisterExtension.class,
                wanted, HierarchyTraversalMode.TOP_DOWN)) {
            Object extension = Injection.read(field, instance);
            if (extension != null && ((LockredisExtension) extension).spec() != null) {
                declareEager(((LockredisExtension) extension).spec());
            }
        }
    }

    static List<Field> annotated(Class<?> type) {
        return AnnotationSupport.findAnnotatedFields(type, Lockredis.class, field -> true,
                HierarchyTraversalMode.TOP_DOWN);
    }

    static Lockredis annotation(Field field) {
        return AnnotationSupport.findAnnotation(field, Lockredis.class)
                .orElseThrow(AssertionError::new);
    }

    /** Declares a server that starts before its first use, unless it is declared. */
    synchronized void declareEager(Spec spec) {
        if (!spec.equals(find(spec.name).orElse(null))) {
            declare(spec, "an extension");
            eager.add(spec);
        }
    }

    private synchronized void declare(Spec spec, String where) {
        Spec other = declared.putIfAbsent(spec.name, spec);
        if (other != null && !other.equals(spec)) {
            throw conflict(spec, where);
        }
    }

    private ExtensionConfigurationException conflict(Spec spec, String where) {
        return new ExtensionConfigurationException("@Lockredis: " + where + " asks for other "
                + "values than " + serverOf(spec) + " of " + testClass().getName() + " has. Give the other "
                + "server a name: @Lockredis(name = \"other\")");
    }

    /** Returns the server of a name that is declared here or around this scope. */
    Optional<Spec> find(String name) {
        for (Scope scope = this; scope != null; scope = scope.parent) {
            synchronized (scope) {
                if (scope.declared.containsKey(name)) {
                    return Optional.of(scope.declared.get(name));
                }
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the server for a use of it, running.
     *
     * @param asked what the field or the parameter asks for
     * @param from the scope where the search for the server's name begins
     * @param where names the field or the parameter in errors
     */
    TestServer use(Spec asked, Scope from, String where) {
        Scope owner = declaredHere(asked.name) != null ? this : from;
        while (owner != null && owner.declaredHere(asked.name) == null) {
            owner = owner.parent;
        }
        if (owner == null) {
            owner = asked.isDefault() && from.isMethod() ? from.parent : from;
            owner.declare(asked, where);
        }
        Spec spec = owner.declaredHere(asked.name);
        if (asked.isDefault() || asked.equals(spec)) {
            return server(spec, owner, where);
        }
        if (!isMethod()) {
            throw conflict(asked, where);
        }
        return start(asked);
    }

    private synchronized Spec declaredHere(String name) {
        return declared.get(name);
    }

    private TestServer server(Spec spec, Scope owner, String where) {
        if (!isMethod()) {
            if (spec.perMethod) {
                throw new ExtensionConfigurationException("@Lockredis(perMethod = true): " + where
                        + " outlives a test method, and the server does not. Take the server as a "
                        + "parameter of the method, or as a field that is not static");
            }
            return owner.start(spec);
        }
        boolean beside = runsBeside(owner);
        if (spec.perMethod || beside && !spec.hasPort()) {
            return start(spec);
        }
        TestServer server = owner.start(spec);
        if (beside) {
            server.share(this);
        }
        return server;
    }

    /** Returns the server that this scope has for a spec. Starts it if it has none. */
    private TestServer start(Spec spec) {
        Object key = Arrays.asList("server", context.getUniqueId(), spec);
        return context.getStore(NAMESPACE).getOrComputeIfAbsent(key, k -> {
            TestServer server = new TestServer(spec, isMethod());
            started.add(server);
            return server;
        }, TestServer.class);
    }

    /** Reports whether this method runs in parallel with others that owner's servers are for. */
    private boolean runsBeside(Scope owner) {
        if (!isParallel()) {
            return false;
        }
        for (ExtensionContext at = context; at != owner.context; at = at.getParent().get()) {
            if (at.getExecutionMode() == ExecutionMode.CONCURRENT) {
                return true;
            }
        }
        return false;
    }

    private boolean isParallel() {
        return context.getConfigurationParameter("junit.jupiter.execution.parallel.enabled")
                .filter(Boolean::parseBoolean).isPresent();
    }

    /** Prepares the servers of the enclosing classes for a nested class. */
    void beforeClass() {
        for (Scope scope = parent; scope != null; scope = scope.parent) {
            if (!runsBeside(scope)) {
                scope.started.forEach(TestServer::beforeClass);
            }
        }
    }

    /** Starts the servers of a class that has annotations or extensions for them. */
    void startClass() {
        for (Spec spec : eagerHere()) {
            if (!spec.perMethod && (!isParallel() || spec.hasPort())) {
                start(spec);
            }
        }
    }

    /** Starts the servers for a method that need not be asked for. */
    void startMethod() {
        for (Scope scope = this; scope != null; scope = scope.parent) {
            for (Spec spec : scope.eagerHere()) {
                server(spec, scope, "the test");
            }
        }
    }

    private synchronized List<Spec> eagerHere() {
        return new ArrayList<>(eager);
    }

    /** Prepares the servers of the classes for this method. */
    void beforeTest() {
        for (Scope scope = parent; scope != null; scope = scope.parent) {
            boolean beside = runsBeside(scope);
            for (TestServer server : scope.started) {
                if (beside) {
                    server.share(this);
                } else {
                    server.beforeTest(this);
                }
            }
        }
    }

    /** Adds the states of this method's servers to its failure, once. */
    void describe(Throwable failure) {
        if (isDescribed) {
            return;
        }
        isDescribed = true;
        for (Scope scope = this; scope != null; scope = scope.parent) {
            if (scope == this || !runsBeside(scope)) {
                scope.started.forEach(server -> ServerState.addTo(failure, server.topology.server()));
            }
        }
    }

    /** Returns the texts about the leaks of this method, one for each server. */
    List<String> afterTest() {
        List<String> texts = new ArrayList<>();
        for (Scope scope = this; scope != null; scope = scope.parent) {
            if (scope == this || !runsBeside(scope)) {
                for (TestServer server : scope.started) {
                    texts.add(server.afterTest(scope == this));
                }
            }
        }
        texts.removeIf(text -> text == null);
        return texts;
    }

    /** Looks once more for what the last test has left on the servers of the class, and of those around it. */
    void lookAgain() {
        for (Scope scope = this; scope != null; scope = scope.parent) {
            scope.started.forEach(TestServer::lookAgain);
        }
    }

    /** Returns the texts about servers of this method that have ended by themselves. */
    List<String> unexpectedEnds() {
        List<String> texts = new ArrayList<>();
        String test = testClass().getSimpleName() + "." + context.getRequiredTestMethod().getName();
        for (Scope scope = this; scope != null; scope = scope.parent) {
            for (TestServer server : scope.started) {
                texts.add(server.unexpectedEnd(this, test));
            }
        }
        texts.removeIf(text -> text == null);
        return texts;
    }

    /** Returns the texts about the leaks on servers that methods of this class have shared. */
    List<String> afterClass() {
        List<String> texts = new ArrayList<>();
        for (TestServer server : started) {
            if (server.isShared()) {
                texts.add(server.afterTest(true));
            }
        }
        texts.removeIf(text -> text == null);
        return texts;
    }
}
