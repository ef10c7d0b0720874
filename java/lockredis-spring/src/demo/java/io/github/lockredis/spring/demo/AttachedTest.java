package io.github.lockredis.spring.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;

import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.TestCertificate;
import io.github.lockredis.spring.AutoConfigureLockredis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RedissonClient;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.data.redis.DataRedisTest;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContextManager;

/** What the demo does with -Dlockredis.uri: it uses that server. */
class AttachedTest {
    /** A test class, without its annotations. */
    static class Client {
        @Autowired
        LockredisServer server;
        @Autowired
        StringRedisTemplate redis;
        @Autowired
        ObjectProvider<RedissonClient> redisson;

        void test() {
        }
    }

    /** All of the application. */
    @SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.NONE, properties = "example=attached")
    @AutoConfigureLockredis
    static class Application extends Client {
    }

    /** A slice of the application that trusts a certificate, with Spring Boot 3 by an SSL bundle. */
    @DataRedisTest(properties = {Redis.PREFIX + ".ssl.bundle=shop", Redis.PREFIX + ".database=0",
        "spring.ssl.bundle.pem.shop.truststore.certificate=file:${test.certificate}"})
    @ContextConfiguration(classes = Shop.class)
    @AutoConfigureLockredis
    static class OverTls extends Client {
    }

    private final SSLContext trusted;

    AttachedTest() throws Exception {
        trusted = SSLContext.getDefault();
    }

    @AfterEach
    void detach() {
        System.clearProperty("lockredis.uri");
        System.clearProperty("javax.net.ssl.trustStore");
        System.clearProperty("javax.net.ssl.trustStorePassword");
        SSLContext.setDefault(trusted);
    }

    @Test
    void theUsersAndTheDatabaseOfTheUriAreUsed() throws Exception {
        try (LockredisServer own = LockredisServer.builder().password("s:/c").start()) {
            own.command("SET", "key", "stays");
            System.setProperty("lockredis.uri",
                    "redis://default:s%3A%2Fc@127.0.0.1:" + own.port() + "/3");
            run(Application.class, test -> {
                assertThat(test.server.isAttached()).isTrue();
                test.redis.opsForValue().set("template", "value");
                test.redisson.getObject().getBucket("redisson").set("value");
                assertThat(test.server.command("DBSIZE")).isEqualTo(2L);
                assertThat(String.valueOf(own.command("INFO", "keyspace")))
                        .contains("db0:keys=1,", "db3:keys=2,").doesNotContain("db2:");
            });
            assertThat(own.isRunning()).isTrue();
        }
    }

    @Test
    void theServerOfTheUriMayHaveTls(@TempDir Path folder) throws Exception {
        TestCertificate certificate = TestCertificate.in(folder);
        SSLContext.setDefault(contextFor(certificate)); // for the library's own connections
        System.setProperty("test.certificate", certificate.certificate.toString());
        Redis.trust(certificate);
        try (LockredisServer own = LockredisServer.builder()
                .tls(certificate.certificate, certificate.privateKey).start()) {
            System.setProperty("lockredis.uri", own.uri());
            run(OverTls.class, test -> {
                assertThat(test.server.isTls()).isTrue();
                test.redis.opsForValue().set("template", "value");
                assertThat(String.valueOf(own.command("INFO", "keyspace"))).contains("db0:keys=1,");
            });
        }
    }

    private interface Use {
        void accept(Client test) throws Exception;
    }

    /** Runs a test by hand, in a context that is not kept. */
    private static void run(Class<? extends Client> type, Use use) throws Exception {
        TestContextManager manager = new TestContextManager(type);
        Client test = BeanUtils.instantiateClass(type);
        try {
            manager.prepareTestInstance(test);
            manager.beforeTestMethod(test, Client.class.getDeclaredMethod("test"));
            use.accept(test);
            manager.afterTestMethod(test, Client.class.getDeclaredMethod("test"), null);
        } finally {
            manager.getTestContext().markApplicationContextDirty(
                    DirtiesContext.HierarchyMode.EXHAUSTIVE);
        }
    }

    private static SSLContext contextFor(TestCertificate certificate) throws Exception {
        KeyStore trust = KeyStore.getInstance(KeyStore.getDefaultType());
        trust.load(null, null);
        try (InputStream in = Files.newInputStream(certificate.certificate)) {
            trust.setCertificateEntry("server",
                    CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory managers =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trust);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }
}
