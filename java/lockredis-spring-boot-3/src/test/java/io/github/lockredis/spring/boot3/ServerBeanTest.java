package io.github.lockredis.spring.boot3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.LockredisTopology;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

/** A server that is a bean, beside production's configuration, which leads nowhere. */
class ServerBeanTest {
    /** Runs without production's TLS and the placeholder in its URL: Spring Boot reads these beside all details. */
    private static ConfigurableApplicationContext run(Class<?>... classes) {
        SpringApplication application = new SpringApplication(classes);
        application.setWebApplicationType(WebApplicationType.NONE);
        return application.run("--spring.data.redis.ssl.enabled=false",
                "--spring.data.redis.url=redis://redis.production.invalid:6399");
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({RedisAutoConfiguration.class, LockredisBeanAutoConfiguration.class})
    static class App {
    }

    @Configuration(proxyBeanMethods = false)
    static class WithServer {
        @Bean
        LockredisServer redis() {
            return LockredisServer.builder().password("secret").start();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithAnother {
        @Bean
        LockredisServer archive() {
            return LockredisServer.start();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithSentinels {
        @Bean
        LockredisTopology redis() {
            return LockredisServer.sentinel();
        }
    }

    @Test
    void theApplicationReachesTheServer() {
        LockredisServer server;
        try (ConfigurableApplicationContext context = run(App.class, WithServer.class)) {
            server = context.getBean(LockredisServer.class);
            context.getBean(StringRedisTemplate.class).opsForValue().set("order:1", "packed");
            assertThat(server.command("INFO", "keyspace").toString()).contains("db2:keys=1");
        }
        assertThat(server.isRunning()).isFalse();
    }

    @Test
    void theApplicationReachesTheServerThroughSentinels() {
        try (ConfigurableApplicationContext context = run(App.class, WithSentinels.class)) {
            context.getBean(StringRedisTemplate.class).opsForValue().set("order:1", "packed");
            LockredisServer server = context.getBean(LockredisTopology.class).server();
            assertThat(server.command("INFO", "keyspace").toString()).contains("db2:keys=1");
        }
    }

    @Test
    void ofTwoServersOneMustBePrimary() {
        assertThatThrownBy(() -> run(App.class, WithServer.class, WithAnother.class))
                .hasStackTraceContaining("expected single matching bean but found 2: ");
    }

    @Test
    void withoutAServerNothingChanges() {
        try (ConfigurableApplicationContext context = run(App.class)) {
            assertThat(context.getBean(RedisConnectionDetails.class)).isNotInstanceOf(ServerDetails.class);
        }
    }
}
