package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.SingleServerConfig;
import redis.clients.jedis.Jedis;

/** rediss://, with a server that asks its clients for a certificate. */
class TlsTest extends Scenario {
    private static final int PATIENCE_MS = 10_000;
    // Redisson waits this long for a reply on a closed connection.
    private static final int REFUSAL_MS = 500;

    @TempDir
    static Path dir;
    private static Identity own;
    private static Identity known;
    private static Identity stranger;
    private static Server server;
    private static int port;

    @BeforeAll
    static void start() throws Exception {
        own = Identity.make(dir, "server");
        known = Identity.make(dir, "known");
        stranger = Identity.make(dir, "stranger");
        port = Server.freePort();
        server = Server.start("--tls-port", String.valueOf(port), "--tls-cert-file", own.certificate().toString(),
                "--tls-key-file", own.key().toString(), "--tls-ca-cert-file", known.certificate().toString());
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** A client that the server accepts. */
    private static RedissonClient open(Identity trusted, Identity shown) {
        return open(trusted, shown, PATIENCE_MS);
    }

    private static RedissonClient open(Identity trusted, Identity shown, int millis) {
        Consumer<SingleServerConfig> keys = single -> {
            try {
                single.setSslTruststore(trusted.trustStore().toUri().toURL()).setSslTruststorePassword(Identity.PASSWORD);
                if (shown != null) {
                    single.setSslKeystore(shown.keyStore().toUri().toURL()).setSslKeystorePassword(Identity.PASSWORD);
                }
            } catch (java.net.MalformedURLException e) {
                throw new IllegalStateException(e);
            }
        };
        return Redisson.create(Clients.config("rediss://127.0.0.1:" + port, config -> {
            keys.accept(config.useSingleServer());
            config.useSingleServer().setConnectionMinimumIdleSize(1).setRetryAttempts(0).setConnectTimeout(millis).setTimeout(millis);
        }));
    }

    @Test
    void lockIsWaitedForAndHandedOver() throws Exception {
        RedissonClient first = closing(open(own, known));
        RedissonClient second = closing(open(own, known));
        RLock held = first.getLock(key);
        RLock wanted = second.getLock(key);
        Actor other = actor();
        held.lock();
        assertFalse(other.ask(() -> wanted.tryLock()));
        var waiting = other.beginStep(wanted::lock);
        held.unlock();
        Actor.result(waiting);
        assertTrue(held.isLocked());
        other.tell(wanted::unlock);
        assertFalse(held.isLocked());
    }

    @Test
    void watchdogRenews() throws Exception {
        RLock lock = closing(open(own, known)).getLock(key);
        lock.lock();
        Await.elapse(Clients.WATCHDOG_MS + 700);
        try (Jedis jedis = server.observe()) {
            long left = jedis.pttl(key);
            assertTrue(left > 500 && left <= Clients.WATCHDOG_MS, "left " + left);
        }
        assertEquals(1, lock.getHoldCount());
        lock.unlock();
    }

    @Test
    void whoShowsNoCertificateOrAWrongOneIsRefused() {
        assertThrows(Exception.class, () -> closing(open(own, null, REFUSAL_MS)).getLock(key).tryLock());
        assertThrows(Exception.class, () -> closing(open(own, stranger, REFUSAL_MS)).getLock(key).tryLock());
    }

    @Test
    void serverOfAnotherAuthorityIsRefused() {
        assertThrows(Exception.class, () -> closing(open(stranger, known, REFUSAL_MS)).getLock(key).tryLock());
    }
}
