package io.github.lockredis.spring.demo;

import io.github.lockredis.server.TestCertificate;

/** What the shared tests need to know of Spring Boot 2.7. */
final class Redis {
    /** The prefix of the application's properties for Redis. */
    static final String PREFIX = "spring.redis";

    private Redis() {
    }

    /** Lets the application trust a certificate. It trusts what the JVM does. */
    static void trust(TestCertificate certificate) {
        System.setProperty("javax.net.ssl.trustStore",
                certificate.certificate.resolveSibling("keys.p12").toString());
        System.setProperty("javax.net.ssl.trustStorePassword", "password");
    }
}
