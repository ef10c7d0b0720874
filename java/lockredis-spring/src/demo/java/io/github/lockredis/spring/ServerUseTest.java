package io.github.lockredis.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.lockredis.server.LockredisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ServerUseTest {
    private LockredisServer server;
    private ServerUse use;

    @BeforeEach
    void start() {
        server = LockredisServer.start();
        use = new ServerUse(server);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private void leak() {
        server.command("EVAL", "redis.call('hset', KEYS[1], ARGV[1], 1)", "1", "order:7",
                "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17");
    }

    @Test
    void aTestThatAnotherOneOverlapsIsNotJudged() {
        ServerUse.Running test = use.begin(false, true);
        ServerUse.Running other = use.begin(false, true);
        leak();
        assertThat(test.leaks()).isNull();
        test.end();
        assertThat(other.leaks()).isNull();
    }

    @Test
    void aTestThatBeginsDuringACheckKeepsItsData() throws Exception {
        ServerUse.Running test = use.begin(true, true);
        leak();
        server.command("CONFIG", "RESETSTAT");
        Thread other = new Thread(() -> {
            while (!server.command("INFO", "commandstats").toString().contains("lock.leaks")) {
                Thread.yield();
            }
            use.begin(false, false);
            server.command("SET", "order:8", "packed");
        });
        other.start();
        assertThat(test.leaks()).contains("order:7");
        other.join();
        assertThat(server.command("GET", "order:8")).isEqualTo("packed");
    }

    @Test
    void aFlushForAClassDeletesNoDataOfATestThatRuns() {
        ServerUse.Running test = use.begin(false, false);
        server.command("SET", "order:8", "packed");
        assertThatThrownBy(use::beginClass).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("FlushMode.NEVER");
        assertThat(server.command("GET", "order:8")).isEqualTo("packed");
        test.end();
        use.beginClass();
        assertThat(server.command("GET", "order:8")).isNull();
    }
}
