package io.github.lockredis.spring.boot3;

import io.github.lockredis.server.TestCertificate;
import io.github.lockredis.spring.demo.AttachedBehaviour;
import io.github.lockredis.spring.demo.Shop;
import org.springframework.boot.test.autoconfigure.data.redis.DataRedisTest;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.test.context.ContextConfiguration;

/** The demo application on the server of lockredis.uri. It trusts a certificate by an SSL bundle. */
class AttachedTest extends AttachedBehaviour {
    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE,
            properties = "example=attached")
    @AutoConfigureLockredis
    static class Application extends Client {
    }

    @DataRedisTest(properties = {
        "spring.data.redis.ssl.bundle=shop", "spring.data.redis.database=0",
        "spring.ssl.bundle.pem.shop.truststore.certificate=file:${test.certificate}"})
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
    }
}
