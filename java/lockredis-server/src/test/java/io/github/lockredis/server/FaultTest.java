package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The life of a fault's handle, its end with the test, and arguments that no fault can have. */
class FaultTest {
    private final LockredisServer server = LockredisServer.start();
    private final Faults faults = server.faults();

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void aClosedFaultHitsNothing() throws IOException {
        Fault fault = faults.failRequest(new Match().always(), "ERR no");
        assertThrows(LockredisException.class, () -> server.command("PING"));
        fault.close();
        fault.close();
        assertEquals("PONG", server.command("PING"));
        assertEnded(fault);
    }

    private static void assertEnded(Fault fault) {
        assertEquals("hits: " + fault + " has ended", assertThrows(IllegalStateException.class, fault::hits).getMessage());
        assertThrows(IllegalStateException.class, () -> fault.awaitHits(1));
        assertEquals(0, fault.held());
        assertEquals(0, fault.release());
        fault.close();
    }

    @Test
    void aRestartEndsAFaultAndAnotherOneWithItsIdStays() throws IOException {
        Fault before = faults.loseReply(new Match());
        server.restart();
        assertTrue(faults.list().isEmpty());
        Fault after = faults.failRequest(new Match(), "ERR no");
        assertEquals(before.id(), after.id());
        assertEnded(before);
        assertEquals(0, after.hits());
    }

    @Test
    void aFaultOfAStoppedServerCanBeClosed() {
        Fault fault = faults.loseReply(new Match());
        server.stop();
        for (Runnable call : Arrays.<Runnable>asList(fault::hits, fault::held, fault::release, faults::list,
                faults::clear, () -> faults.loseReply(new Match()), server::commandCounts)) {
            assertTrue(assertThrows(LockredisException.class, call::run).getMessage().endsWith("is stopped"));
        }
        fault.close();
        server.restart();
        fault.close();
        assertEquals("PONG", server.command("PING"));
    }

    @Test
    void severalThreadsUseAFault() throws Exception {
        int threads = 8;
        int requests = 5;
        Fault held = faults.holdRequest(new Match().command("incr").always());
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(CompletableFuture.runAsync(() -> {
                try (Connection client = Clients.connect(server)) {
                    for (int n = 0; n < requests; n++) {
                        client.call("INCR", "n");
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }, task -> new Thread(task).start()));
        }
        List<CompletableFuture<Integer>> releasing = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            releasing.add(CompletableFuture.supplyAsync(() -> {
                int released = 0;
                while (held.hits() < threads * requests || held.held() > 0) {
                    released += held.release(2);
                }
                return released;
            }, task -> new Thread(task).start()));
        }
        int released = 0;
        for (CompletableFuture<Integer> one : releasing) {
            released += one.get();
        }
        for (CompletableFuture<?> one : all) {
            one.get();
        }
        assertEquals(threads * requests, released);
        assertEquals(threads * requests, held.hits());
        Stream.generate(() -> held).limit(threads).parallel().forEach(Fault::close);
        assertEnded(held);
    }

    @Test
    void aFaultThatDoesNotHitFailsTheWait() {
        Fault fault = faults.loseReply(new Match().command("get"));
        fault.awaitHits(0);
        assertEquals("fault 1 lose-reply COMMAND get on " + server.redissonAddress() + " has hit 0 of 1 within 1 ms",
                assertThrows(AssertionError.class, () -> fault.awaitHits(1, Duration.ofMillis(1))).getMessage());
    }

    @Test
    void theEndOfATestEndsItsFaults() {
        EndWatch watch = new EndWatch(server);
        watch.begin("test");
        Fault fault = faults.failRequest(new Match().always(), "ERR no");
        assertNull(watch.end("test", "test"));
        assertEnded(fault);
    }

    @Test
    void aLeakCheckAndItsPreparationEndFaults() throws Exception {
        LeakCheck check = LeakCheck.begin(server);
        Fault fault = faults.failRequest(new Match().always(), "ERR no");
        assertNull(check.end(true));
        assertEnded(fault);
        Fault second = faults.stop(Duration.ofDays(1));
        LeakCheck.prepare(server, true);
        assertEnded(second);
        assertEquals("PONG", server.command("PING"));
    }

    @Test
    void whatNoFaultCanHaveIsRefused() {
        char[] text = new char[4097];
        Arrays.fill(text, 'x');
        String tooLong = new String(text);
        for (Runnable call : Arrays.<Runnable>asList(
                () -> new Match().command(""), () -> new Match().key(tooLong), () -> new Match().client(""),
                () -> new Match().client(0), () -> new Match().script("12"), () -> new Match().scriptContains(""),
                () -> new Match().nth(0), () -> new Match().times(-1), () -> new MessageMatch().channel(""),
                () -> new MessageMatch().client(tooLong), () -> new MessageMatch().client(-1),
                () -> new MessageMatch().nth(0), () -> new MessageMatch().times(0), () -> new Connections().client(""),
                () -> faults.failRequest(new Match(), ""), () -> faults.failRequest(new Match(), "ERR a\nERR b"),
                () -> faults.holdRequest(new Match(), Duration.ZERO), () -> faults.stop(Duration.ofNanos(1)),
                () -> faults.delayReply(new Match(), Duration.ofSeconds(-1)),
                () -> faults.delayMessage(new MessageMatch(), Duration.ofSeconds(Long.MAX_VALUE)))) {
            assertFalse(assertThrows(IllegalArgumentException.class, call::run).getMessage().isEmpty());
        }
        assertEquals("loseReply: unknown command 'evlsha'", assertThrows(IllegalArgumentException.class,
                () -> faults.loseReply(new Match().command("evlsha"))).getMessage());
        assertEquals("loseReply: no fault hits 'fault.list'", assertThrows(IllegalArgumentException.class,
                () -> faults.loseReply(new Match().command("FAULT.LIST"))).getMessage());
        assertTrue(faults.list().isEmpty());
        Fault fault = faults.loseReply(new Match());
        assertThrows(IllegalArgumentException.class, () -> fault.release(0));
        assertThrows(IllegalArgumentException.class, () -> fault.awaitHits(-1));
    }
}
