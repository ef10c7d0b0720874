package io.github.lockredis.spring.boot3;

import org.springframework.beans.factory.aot.BeanRegistrationExcludeFilter;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * Leaves the connection details out of code that is generated ahead of time. The customizer runs in
 * the generated context too and adds them, for a server of that run.
 */
final class LockredisAotFilter implements BeanRegistrationExcludeFilter {
    LockredisAotFilter() {
    }

    @Override
    public boolean isExcludedFromAotProcessing(RegisteredBean bean) {
        return bean.getBeanName().equals(Boot3.DETAILS);
    }
}
