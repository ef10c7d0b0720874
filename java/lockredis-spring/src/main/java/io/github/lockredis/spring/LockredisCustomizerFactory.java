package io.github.lockredis.spring;

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

    /** Fails if a class replaces Spring's default listeners: no test would be checked, and no data deleted. */
    private static void requireListener(Class<?> testClass) {
        AnnotationDescriptor<TestExecutionListeners> listeners =
                TestContextAnnotationUtils.findAnnotationDescriptor(testClass, TestExecutionListeners.class);
        if (listeners == null || hasListener(listeners)) {
            return;
        }
        throw new IllegalStateException("@AutoConfigureLockredis: the @TestExecutionListeners of "
                + listeners.getRootDeclaringClass().getName() + " replaces the listener that deletes the data and"
                + " checks for leaks. Add LockredisListener.class to its list, or mergeMode = MERGE_WITH_DEFAULTS"
                + " to the annotation that replaces Spring's defaults");
    }

    /** Follows the annotations as Spring does: the last one that inherits nothing may merge with the defaults. */
    private static boolean hasListener(AnnotationDescriptor<TestExecutionListeners> listeners) {
        TestExecutionListeners here = listeners.getAnnotation();
        if (Arrays.asList(here.listeners()).contains(LockredisListener.class)) {
            return true;
        }
        AnnotationDescriptor<TestExecutionListeners> above = here.inheritListeners() ? listeners.next() : null;
        return above != null ? hasListener(above) : here.mergeMode() == MergeMode.MERGE_WITH_DEFAULTS;
    }

    /** Returns the annotation of a test class, of a class that it inherits from, or that encloses it. Null: none. */
    static AutoConfigureLockredis annotation(Class<?> testClass) {
        return TestContextAnnotationUtils.findMergedAnnotation(testClass, AutoConfigureLockredis.class);
    }
}
