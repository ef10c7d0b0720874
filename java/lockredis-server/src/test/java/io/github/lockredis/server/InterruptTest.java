package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A method that waits ends when its thread is interrupted. */
class InterruptTest {
    private static final Map<String, Runnable> WAITS = new LinkedHashMap<>();
    private static LockredisServer server;

    @BeforeAll
    static void start() {
        server = LockredisServer.start();
        server.command("EVAL", "redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2])", "1",
                "held", "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17", "600000");
        Fault fault = server.faults().loseReply(new Match().command("incr"));
        WAITS.put("awaitHeld free", () -> server.awaitHeld("free"));
        WAITS.put("awaitFree held", () -> server.awaitFree("held"));
        WAITS.put("awaitWaiters held", () -> server.awaitWaiters("held", 1));
        WAITS.put("awaitHits 1 of " + fault, () -> fault.awaitHits(1));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void anInterruptedThreadDoesNotWait() {
        WAITS.forEach((name, wait) -> {
            Thread.currentThread().interrupt();
            LockredisException thrown = assertThrows(LockredisException.class, wait::run);
            assertTrue(Thread.interrupted(), name);
            assertEquals(name + ": the thread is interrupted", thrown.getMessage());
        });
    }

    @Test
    void anInterruptEndsAWait() throws Exception {
        for (Map.Entry<String, Runnable> wait : WAITS.entrySet()) {
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread thread = new Thread(() -> {
                try {
                    wait.getValue().run();
                    interrupted.complete(false);
                } catch (Throwable e) {
                    interrupted.complete(Thread.currentThread().isInterrupted());
                }
            });
            thread.start();
            Await.until("the thread waits", () -> Arrays.stream(thread.getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().matches("awaitReply|pause")));
            thread.interrupt();
            assertTrue(interrupted.get(30, TimeUnit.SECONDS), wait.getKey());
        }
    }
}
