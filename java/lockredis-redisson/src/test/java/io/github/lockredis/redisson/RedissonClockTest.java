package io.github.lockredis.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;

import io.github.lockredis.junit5.Lockredis;
import io.github.lockredis.server.Fault;
import io.github.lockredis.server.LockredisServer;
import io.github.lockredis.server.Match;
import io.github.lockredis.server.Turn;
import io.netty.util.HashedWheelTimer;

/** What joins and leaves a clock, and what a turn refuses. */
@Lockredis
class RedissonClockTest {
    private RedissonClient redisson;

    @BeforeEach
    void connect(LockredisServer server) {
        redisson = Clients.redisson(server);
    }

    @AfterEach
    void disconnect() {
        redisson.shutdown();
    }

    @Test
    void theLockOutlivesTheWork(LockredisServer server) {
        try (RedissonClock clock = RedissonClock.join(server, redisson)) {
            RLock lock = redisson.getLock("orders:42");
            lock.lock(); // without a lease: Redisson renews it
            clock.advance(Duration.ofMinutes(5));
            assertTrue(lock.isHeldByCurrentThread());
            lock.unlock();
        }
    }

    @Test
    void theWatchdogOfAClientThatIsNotJoinedSleeps(LockredisServer server) {
        RLock lock = redisson.getLock("alone");
        lock.lock();
        RedissonClient other = Clients.redisson(server);
        try (RedissonClock clock = RedissonClock.join(server, other)) {
            assertEquals(Collections.singletonList("alone"), clock.advance(Duration.ofMinutes(5)).ended());
        } finally {
            other.shutdown();
        }
    }

    @Test
    void aTurnOfTheServersClockAloneEndsALease(LockredisServer server) {
        try (RedissonClock clock = RedissonClock.join(server, redisson)) {
            redisson.getLock("server").lock();
            assertEquals(Collections.singletonList("server"), server.clock().advance(Duration.ofSeconds(31)).ended());
            assertFalse(redisson.getLock("server").isLocked());
            clock.advance(Duration.ofSeconds(11)); // the watchdog sees it
        }
    }

    @Test
    void aTimerThatWasSetBeforeFollows(LockredisServer server) {
        RLock lock = redisson.getLock("before");
        lock.lock();
        try (RedissonClock clock = RedissonClock.join(server, redisson)) {
            assertEquals(Collections.emptyList(), clock.advance(Duration.ofMinutes(5)).ended());
            lock.unlock();
        }
    }

    @Test
    @SuppressWarnings("try") // closes a clock early
    void closeGivesTheTimerBack(LockredisServer server) {
        HashedWheelTimer own = TimerField.of(redisson).timer();
        RLock lock = redisson.getLock("closed");
        try (RedissonClock clock = RedissonClock.join(server, redisson)) {
            lock.lock();
            clock.advance(Duration.ofMinutes(1));
            clock.close();
            assertEquals(own, TimerField.of(redisson).timer());
            assertThrows(IllegalStateException.class, () -> clock.advance(Duration.ofMinutes(1)));
        }
        assertTrue(lock.isHeldByCurrentThread());
        assertEquals(Collections.singletonList("closed"), server.clock().advance(Duration.ofSeconds(31)).ended());
        // Another lock: a watchdog that finds the first one lost may take its next hold for lost, too.
        RLock next = redisson.getLock("next");
        try (RedissonClock again = RedissonClock.join(server, redisson)) {
            next.lock();
            again.advance(Duration.ofMinutes(1));
            next.unlock();
        }
    }

    @Test
    void aClientHasOneClock(LockredisServer server) {
        try (RedissonClock clock = RedissonClock.join(server, redisson, redisson)) {
            assertThrows(IllegalStateException.class, () -> RedissonClock.join(server, redisson));
            clock.advance(Duration.ZERO);
        }
    }

    @Test
    void aClientWithoutATimerIsRefused(LockredisServer server) {
        RedissonClient proxy = (RedissonClient) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[] {RedissonClient.class}, (self, method, arguments) -> method.invoke(redisson, arguments));
        IllegalStateException refused = assertThrows(IllegalStateException.class, () -> RedissonClock.join(server, redisson, proxy));
        assertTrue(refused.getMessage().contains("no HashedWheelTimer"), refused.getMessage());
        RedissonClock.join(server, redisson).close(); // the other client was not joined
        assertThrows(IllegalArgumentException.class, () -> RedissonClock.join(server));
    }

    @Test
    void aTurnThatIsNegativeOrTooLongIsRefused(LockredisServer server) {
        try (RedissonClock clock = RedissonClock.join(server, redisson)) {
            assertThrows(IllegalArgumentException.class, () -> clock.advance(Duration.ofMillis(-1)));
            assertThrows(IllegalArgumentException.class, () -> clock.advance(Duration.ofSeconds(Long.MAX_VALUE)));
        }
    }

    @Test
    void aTurnByAThreadThatReadsRepliesIsRefused(LockredisServer server) throws Exception {
        try (RedissonClock clock = RedissonClock.join(server, redisson)) {
            CompletableFuture<Throwable> thrown = new CompletableFuture<>();
            TimerField.of(redisson).group().next().execute(() -> {
                try {
                    clock.advance(Duration.ofSeconds(1));
                    thrown.complete(null);
                } catch (Throwable e) {
                    thrown.complete(e);
                }
            });
            assertEquals(IllegalStateException.class, thrown.get(30, TimeUnit.SECONDS).getClass());
        }
    }

    @Test
    void aClientThatIsShutDownIsLeftOut(LockredisServer server) {
        RedissonClient other = Clients.redisson(server);
        try (RedissonClock clock = RedissonClock.join(server, redisson, other)) {
            other.getLock("forgotten").lock();
            other.shutdown();
            assertEquals(Collections.singletonList("forgotten"), clock.advance(Duration.ofMinutes(1)).ended());
        }
    }

    @Test
    void aTurnGoesOnWhenRedissonGivesARenewalUp(LockredisServer server) {
        RedissonClient impatient = Clients.impatient(server);
        try (RedissonClock clock = RedissonClock.join(server, impatient)) {
            RLock lock = impatient.getLock("missed");
            lock.lock();
            Fault held = server.faults().holdRequest(new Match().scriptContains("pexpire").key("missed").always());
            assertEquals(Collections.singletonList("missed"), clock.advance(Duration.ofMinutes(5)).ended());
            held.close(); // the renewals run, and find no lock
            assertFalse(redisson.getLock("missed").isLocked());
        } finally {
            impatient.shutdown();
        }
    }

    @Test
    void aTurnReturnsWhatAllItsStepsHaveDone(LockredisServer server) throws Exception {
        try (RedissonClock clock = RedissonClock.join(server, redisson)) {
            RLock renewed = redisson.getLock("renewed");
            renewed.lock();
            redisson.getLock("first").lock(15, TimeUnit.SECONDS);
            redisson.getLock("second").lock(25, TimeUnit.SECONDS);
            Instant before = server.clock().now();
            Turn turn = clock.advance(Duration.ofSeconds(60));
            assertEquals(Arrays.asList("first", "second"), turn.ended());
            assertEquals(0, turn.woken());
            assertFalse(turn.now().isBefore(before.plusSeconds(60)));
            renewed.unlock();
        }
    }

    @Test
    void aListenerThatWasThereBeforeStillHears(LockredisServer server) throws Exception {
        CompletableFuture<String> heard = new CompletableFuture<>();
        RTopic topic = redisson.getTopic("topic");
        int listener = topic.addListener(String.class, (channel, message) -> heard.complete(message));
        try (RedissonClock clock = RedissonClock.join(server, redisson)) {
            clock.advance(Duration.ofHours(1));
            topic.publish("order");
            assertEquals("order", heard.get(30, TimeUnit.SECONDS));
        }
        topic.removeListener(listener);
        assertNull(redisson.getBucket("none").get());
    }
}
