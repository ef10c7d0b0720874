package io.github.lockredis.spring.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

import io.github.lockredis.server.Lock;
import io.github.lockredis.server.LockredisServer;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.client.TestRestTemplate;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.ResponseEntity;

/** What the demo does on a lockredis. Each module runs it with its annotation. */
public abstract class ShopBehaviour {
    @Autowired
    protected LockredisServer server;
    @Autowired
    protected Orders orders;
    @Autowired
    protected RedissonClient redisson;
    @Autowired
    protected StringRedisTemplate redis;

    @Test
    void redissonsLockIsHeldOnTheServer() {
        orders.pack("7", () -> {
            List<Lock> locks = server.locks("order:*");
            assertThat(locks).extracting(Lock::name).containsExactly("order:7");
            assertThat(locks.get(0).holders().get(0).owner())
                    .endsWith(":" + Thread.currentThread().getId());
        });
        assertThat(server.locks()).isEmpty();
    }

    @Test
    void theLockRegistrysLockIsHeldOnTheServer() {
        orders.ship("7", () -> assertThat(server.locks("shop-locks:*"))
                .extracting(Lock::name).containsExactly("shop-locks:7"));
        assertThat(server.locks()).isEmpty();
    }

    @Test
    void theCacheIsOnTheServer() {
        assertThat(orders.price("tea")).isEqualTo("42 EUR");
        assertThat(orders.price("tea")).isEqualTo("42 EUR");
        assertThat(redis.opsForValue().get("computed:tea")).isEqualTo("1");
        assertThat(redis.keys("prices*")).hasSize(1);
    }

    @Test
    void aSessionIsOnTheServer(@Autowired TestRestTemplate http) {
        ResponseEntity<String> first = http.getForEntity("/visits", String.class);
        assertThat(first.getBody()).isEqualTo("1");
        HttpHeaders headers = new HttpHeaders();
        String cookie = first.getHeaders().getFirst(HttpHeaders.SET_COOKIE);
        headers.set(HttpHeaders.COOKIE, cookie.substring(0, cookie.indexOf(';')));
        HttpEntity<Void> again = new HttpEntity<>(headers);
        assertThat(http.exchange("/visits", HttpMethod.GET, again, String.class).getBody())
                .isEqualTo("2");
        assertThat(redis.keys("spring:session:*")).isNotEmpty();
    }

    @Test
    void theTemplateAndRedissonUseTheDatabaseOfTheApplication() {
        redis.opsForValue().set("greeting", "hello");
        assertThat(redisson.getKeys().count()).isEqualTo(1);
        Object keys = server.command("INFO", "keyspace");
        assertThat(String.valueOf(keys)).contains(database() + ":keys=1")
                .containsOnlyOnce(":keys=");
    }

    /** Returns the database of the application. */
    protected String database() {
        return "db2";
    }
}
