package io.github.lockredis.spring.boot2;

import io.github.lockredis.spring.LockredisTestExecutionListener;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Empties the server and checks for leaks. Spring loads it for all test classes. */
final class LockredisListener extends LockredisTestExecutionListener {
    LockredisListener() {
    }

    @Override
    protected Rules rules(Class<?> testClass) {
        AutoConfigureLockredis annotation = TestContextAnnotationUtils.findMergedAnnotation(testClass,
                AutoConfigureLockredis.class);
        return annotation == null ? null : new Rules(annotation.flush(), annotation.leaks());
    }
}
