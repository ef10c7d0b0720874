package io.github.lockredis.spring.boot3;

import java.util.List;

import io.github.lockredis.spring.ServerSettings;
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
        AutoConfigureLockredis annotation = TestContextAnnotationUtils.findMergedAnnotation(testClass,
                AutoConfigureLockredis.class);
        return annotation == null ? null : new LockredisCustomizer(new ServerSettings(
                annotation.password(), annotation.topology(), annotation.masterName(),
                annotation.sentinelPassword(), annotation.directives()));
    }
}
