package io.github.lockredis.spring.demo;

import io.github.lockredis.server.TestCertificate;

/** What the shared tests need to know of Spring Boot 3. */
final class Redis {
    /** The prefix of the application's properties for Redis. */
    static final String PREFIX = "spring.data.redis";

    private Redis() {
    }

    /** Lets the application trust a certificate. The application trusts it by an SSL bundle. */
    static void trust(TestCertificate certificate) {
    }
}
