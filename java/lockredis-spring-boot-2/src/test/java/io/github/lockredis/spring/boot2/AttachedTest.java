package io.github.lockredis.spring.boot2;

import io.github.lockredis.server.TestCertificate;
import io.github.lockredis.spring.demo.AttachedBehaviour;
import io.github.lockredis.spring.demo.Shop;
import org.junit.jupiter.api.AfterAll;
import org.springframework.boot.test.autoconfigure.data.redis.DataRedisTest;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.test.context.ContextConfiguration;

/** The demo application on the server of lockredis.uri. It trusts what the JVM trusts. */
class AttachedTest extends AttachedBehaviour {
    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
            properties = "example=attached")
    @AutoConfigureLockredis
    static class Application extends Client {
    }

    @DataRedisTest(properties = "example=tls")
    @ContextConfiguration(classes = Shop.class)
    @AutoConfigureLockredis
    static class OverTls extends Client {
    }

    AttachedTest() throws Exception {
    }

    @Override
    protected Class<? extends Client> application() {
        return Application.class;
    }

    @Override
    protected Class<? extends Client> overTls() {
        return OverTls.class;
    }

    @Override
    protected void trust(TestCertificate certificate) {
        System.setProperty("javax.net.ssl.trustStore",
                certificate.certificate.resolveSibling("keys.p12").toString());
        System.setProperty("javax.net.ssl.trustStorePassword", "password");
    }

    @AfterAll
    static void clear() {
        System.clearProperty("javax.net.ssl.trustStore");
        System.clearProperty("javax.net.ssl.trustStorePassword");
    }
}
