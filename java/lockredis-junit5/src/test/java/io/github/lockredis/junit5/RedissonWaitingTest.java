package io.github.lockredis.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;

import io.github.lockredis.server.LockWaiter;
import io.github.lockredis.server.LockredisServer;

/** The threads of real Redisson that wait for locks, as the server knows them. */
@Lockredis
class RedissonWaitingTest extends HolderAndWaiter {
    private static RLock held(String kind) {
        switch (kind) {
            case "read":
                return holder.getReadWriteLock(kind).writeLock();
            case "multi":
                return holder.getLock(kind);
            default:
                return lock(holder, kind);
        }
    }

    private static String serversKind(String kind) {
        switch (kind) {
            case "fair":
            case "fenced":
                return kind;
            case "group":
                return "multi";
            case "write":
            case "read":
                return "read-write";
            default:
                return "lock";
        }
    }

    /** A thread that waits for a lock, and releases it. */
    private static final class Waiting {
        private final CompletableFuture<Boolean> end = new CompletableFuture<>();
        private final Thread thread;

        /** @param time how long it waits, in ms; -1: until it has the lock */
        Waiting(String kind, long time) {
            thread = new Thread(() -> {
                try {
                    RLock lock = lock(waiter, kind);
                    boolean acquired = true;
                    if (time < 0) {
                        lock.lock();
                    } else {
                        acquired = lock.tryLock(time, TimeUnit.MILLISECONDS);
                    }
                    if (acquired) {
                        lock.unlock();
                    }
                    end.complete(acquired);
                } catch (Throwable e) {
                    end.completeExceptionally(e);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        String owner() {
            return waiter.getId() + ":" + thread.getId();
        }

        boolean join() throws Exception {
            return end.get(1, TimeUnit.MINUTES);
        }
    }

    private static Set<String> owners(List<LockWaiter> waiters) {
        return waiters.stream().map(LockWaiter::owner).collect(Collectors.toSet());
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair", "fenced", "spin", "write", "read", "multi", "group"})
    void eachThreadIsAWaiter(String kind, LockredisServer server) throws Exception {
        held(kind).lock();
        Waiting[] threads = {new Waiting(kind, -1), new Waiting(kind, -1), new Waiting(kind, -1)};
        server.awaitWaiters(kind, 3);
        Set<String> expected = new HashSet<>();
        for (Waiting thread : threads) {
            expected.add(thread.owner());
        }
        AtomicReference<List<LockWaiter>> waiters = new AtomicReference<>();
        Wait.until(() -> { // a multi-lock begins again and again
            waiters.set(server.waiters(kind));
            return owners(waiters.get()).equals(expected) && waiters.get().stream().allMatch(LockWaiter::isWaiting);
        });
        for (LockWaiter row : waiters.get()) {
            assertEquals(serversKind(kind), row.kind(), row::toString);
            assertEquals(kind.equals("read") || kind.equals("write") ? kind : "", row.mode(), row::toString);
            assertTrue(row.asks() >= 2 && row.since().isPresent(), row::toString);
            assertEquals("orders", row.client().name(), row::toString);
            assertTrue(row.client().isKnown() && row.threadId().isPresent(), row::toString);
        }
        Wait.until(() -> owners(server.probeWaiters(kind)).equals(expected)); // a slow thread asks later
        held(kind).unlock();
        for (Waiting thread : threads) {
            assertTrue(thread.join());
        }
        server.awaitWaiters(kind, 0);
        Wait.until(() -> server.waiters(kind).isEmpty());
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "fenced", "write", "read"})
    void aThreadThatHasGivenUpDoesNotAskInAProbe(String kind, LockredisServer server) throws Exception {
        held(kind).lock();
        Waiting stays = new Waiting(kind, -1);
        server.awaitWaiters(kind, 1);
        Waiting givesUp = new Waiting(kind, 300);
        assertFalse(givesUp.join());
        Wait.until(() -> owners(server.probeWaiters(kind)).equals(Collections.singleton(stays.owner())));
        held(kind).unlock();
        assertTrue(stays.join());
    }

    @Test
    void theLastThreadThatGivesUpIsGone(LockredisServer server) throws Exception {
        for (String kind : new String[] {"plain", "fair", "write"}) {
            held(kind).lock();
            assertFalse(new Waiting(kind, 300).join());
            server.awaitWaiters(kind, 0);
            Wait.until(() -> server.waiters(kind).isEmpty());
            held(kind).unlock();
        }
    }

    @Test
    void threadsThatDoNotSleepYetAreWokenByTheEndOfAWriteLock(LockredisServer server) throws Exception {
        holder.getReadWriteLock("read").writeLock().lock(10, TimeUnit.MINUTES);
        Waiting[] threads = new Waiting[10];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Waiting("read", -1);
        }
        server.awaitWaiters("read", threads.length);
        server.endLease("read");
        for (Waiting thread : threads) {
            assertTrue(thread.join());
        }
    }

    @Test
    void ofAPermitOnlyTheClientIsKnown(LockredisServer server) throws Exception {
        RPermitExpirableSemaphore permits = holder.getPermitExpirableSemaphore("permits");
        permits.trySetPermits(1);
        String permit = permits.acquire();
        consume(server, "permits", () -> {
            RPermitExpirableSemaphore wanted = waiter.getPermitExpirableSemaphore("permits");
            wanted.release(wanted.acquire());
        }, ignored -> permits.release(permit));
    }

    @Test
    void ofASemaphoreOnlyTheClientIsKnown(LockredisServer server) throws Exception {
        holder.getSemaphore("plain permits").trySetPermits(1);
        holder.getSemaphore("plain permits").acquire();
        consume(server, "plain permits", () -> {
            waiter.getSemaphore("plain permits").acquire();
            waiter.getSemaphore("plain permits").release();
        }, name -> holder.getSemaphore(name).release());
    }

    private interface Action {
        void run() throws Exception;
    }

    private static void consume(LockredisServer server, String name, Action wait, Consumer<String> release)
            throws Exception {
        CompletableFuture<Void> end = CompletableFuture.runAsync(() -> {
            try {
                wait.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        server.awaitWaiters(name, 1);
        List<LockWaiter> waiters = server.waiters(name);
        assertEquals(1, waiters.size(), waiters::toString);
        assertEquals("", waiters.get(0).owner());
        assertEquals(OptionalLong.empty(), waiters.get(0).threadId());
        assertTrue(waiters.get(0).client().isKnown());
        Wait.until(() -> !server.probeWaiters(name, Duration.ofMillis(100)).isEmpty());
        release.accept(name);
        end.get(1, TimeUnit.MINUTES);
        assertEquals(Collections.emptyList(), server.probeWaiters(name, Duration.ZERO));
    }
}
