package io.github.lockredis.spring;

import java.util.List;

import io.github.lockredis.server.Attributes;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Gives a server to the contexts of annotated test classes. Spring asks it for all of them. */
final class LockredisCustomizerFactory implements ContextCustomizerFactory {
    LockredisCustomizerFactory() {
    }

    @Override
    public ContextCustomizer createContextCustomizer(Class<?> testClass,
            List<ContextConfigurationAttributes> attributes) {
        AutoConfigureLockredis annotation = annotation(testClass);
        return annotation == null ? null
                : new LockredisCustomizer(Attributes.of(annotation, "flush", "leaks", "dataKeys"));
    }

    /** Returns the annotation of a test class, of a class that it inherits from, or that encloses it. Null: none. */
    static AutoConfigureLockredis annotation(Class<?> testClass) {
        return TestContextAnnotationUtils.findMergedAnnotation(testClass, AutoConfigureLockredis.class);
    }
}
