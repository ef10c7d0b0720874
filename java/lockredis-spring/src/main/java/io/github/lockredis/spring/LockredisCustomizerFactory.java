package io.github.lockredis.spring;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.github.lockredis.server.Attributes;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.TestContextAnnotationUtils.AnnotationDescriptor;
import org.springframework.test.context.TestExecutionListeners;
import org.springframework.test.context.TestExecutionListeners.MergeMode;
import org.springframework.test.context.support.AbstractDirtiesContextTestExecutionListener;
import org.springframework.test.context.transaction.TransactionalTestExecutionListener;

/** Gives a server to the contexts of annotated test classes. Spring asks it for all of them. */
final class LockredisCustomizerFactory implements ContextCustomizerFactory {
    LockredisCustomizerFactory() {
    }

    @Override
    public ContextCustomizer createContextCustomizer(Class<?> testClass,
            List<ContextConfigurationAttributes> attributes) {
        AutoConfigureLockredis annotation = annotation(testClass);
        if (annotation == null) {
            return null;
        }
        requireListener(testClass);
        return new LockredisCustomizer(Attributes.of(annotation, "flush", "leaks", "dataKeys"));
    }

    /**
     * Fails if a class replaces Spring's default listeners by a list without the listener, or with a wrong place for
     * it: no test would be checked, and no data deleted.
     */
    private static void requireListener(Class<?> testClass) {
        AnnotationDescriptor<TestExecutionListeners> annotation =
                TestContextAnnotationUtils.findAnnotationDescriptor(testClass, TestExecutionListeners.class);
        List<Class<?>> listed = new ArrayList<>();
        if (annotation == null || addListed(annotation, listed)) {
            return;
        }
        String fault = fault(listed);
        if (fault != null) {
            throw new IllegalStateException("@AutoConfigureLockredis: the @TestExecutionListeners of "
                    + annotation.getRootDeclaringClass().getName() + fault + ", or write mergeMode ="
                    + " MERGE_WITH_DEFAULTS in the annotation that replaces Spring's defaults");
        }
    }

    /**
     * Adds the listeners that annotations list, in Spring's order: inherited ones first. Reports whether Spring
     * merges them with its defaults, and sorts them. It does if the last annotation that inherits nothing says so.
     */
    private static boolean addListed(AnnotationDescriptor<TestExecutionListeners> annotation, List<Class<?>> listed) {
        TestExecutionListeners here = annotation.getAnnotation();
        listed.addAll(0, Arrays.asList(here.listeners()));
        AnnotationDescriptor<TestExecutionListeners> above = here.inheritListeners() ? annotation.next() : null;
        return above != null ? addListed(above, listed) : here.mergeMode() == MergeMode.MERGE_WITH_DEFAULTS;
    }

    /** Returns what is wrong with a list that Spring does not sort, and half of the advice. Null: nothing. */
    private static String fault(List<Class<?>> listed) {
        int own = listed.indexOf(LockredisListener.class);
        if (own < 0) {
            return " replaces the listener that deletes the data and checks for leaks. Add LockredisListener.class to"
                    + " its list";
        }
        for (Class<?> other : listed.subList(0, own)) {
            if (TransactionalTestExecutionListener.class.isAssignableFrom(other)) {
                return " has LockredisListener behind " + other.getSimpleName() + ": the check would see the locks of"
                        + " a transaction that is still open. List LockredisListener.class in front of it";
            }
        }
        for (Class<?> other : listed.subList(own, listed.size())) {
            if (AbstractDirtiesContextTestExecutionListener.class.isAssignableFrom(other)) {
                return " has LockredisListener in front of " + other.getSimpleName() + ": the check would come when"
                        + " the context and its server are closed. List LockredisListener.class behind it";
            }
        }
        return null;
    }

    /** Returns the annotation of a test class, of a class that it inherits from, or that encloses it. Null: none. */
    static AutoConfigureLockredis annotation(Class<?> testClass) {
        return TestContextAnnotationUtils.findMergedAnnotation(testClass, AutoConfigureLockredis.class);
    }
}
