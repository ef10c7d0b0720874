package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each kind of fault, and what it hits. */
class FaultsTest {
    private static final Duration LONG = Duration.ofDays(1);

    private final LockredisServer server = LockredisServer.start();
    private final Faults faults = server.faults();
    private Connection client;

    @BeforeEach
    void connect() throws IOException {
        client = Clients.connect(server);
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        server.close();
    }

    private CompletableFuture<Object> send(String... command) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return client.call(command);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private Object stored(String key) {
        return server.kit("GET", key);
    }

    private void assertCut(CompletableFuture<?> reply) {
        ExecutionException e = assertThrows(ExecutionException.class, reply::get);
        assertTrue(e.getCause().getCause() instanceof IOException, e::toString);
    }

    @Test
    void aReplyIsLost() {
        Fault lost = faults.loseReply(new Match().command("set"));
        assertThrows(IOException.class, () -> client.call("SET", "k", "v"));
        assertEquals("v", stored("k"));
        assertEquals(1, lost.hits());
    }

    @Test
    void aRequestIsLost() {
        faults.loseRequest(new Match().command("SET"));
        assertThrows(IOException.class, () -> client.call("SET", "k", "v"));
        assertNull(stored("k"));
    }

    @Test
    void aRequestFails() throws IOException {
        faults.failRequest(new Match().command("set").times(2), "OOM no memory");
        for (int i = 0; i < 2; i++) {
            assertEquals("OOM no memory",
                    assertThrows(IOException.class, () -> client.call("SET", "k", "v")).getMessage());
        }
        assertEquals("OK", client.call("SET", "k", "v"));
    }

    @Test
    void aRequestIsHeldUntilItsRelease() throws Exception {
        Fault held = faults.holdRequest(new Match().command("set").key("ord*"));
        CompletableFuture<Object> reply = send("SET", "orders", "paid");
        held.awaitHits(1);
        assertEquals(1, held.held());
        assertNull(stored("orders"));
        assertEquals(1, held.release());
        assertEquals("OK", reply.get());
        assertEquals(0, held.held());
        assertEquals(0, held.release());
    }

    @Test
    void requestsAreReleasedOneByOne() throws Exception {
        Fault held = faults.holdRequest(new Match().command("incr").always());
        CompletableFuture<Object> first = send("INCR", "n");
        held.awaitHits(1);
        CompletableFuture<Object> second = CompletableFuture.supplyAsync(() -> server.command("INCR", "n"));
        held.awaitHits(2);
        assertEquals(1, held.release(1));
        assertEquals(1L, first.get());
        assertEquals(1, held.held());
        held.close();
        assertEquals(2L, second.get());
    }

    @Test
    void aRequestOrReplyIsHeldForATime() throws Exception {
        faults.holdRequest(new Match().command("get"), Duration.ofMillis(40));
        faults.delayReply(new Match().command("get"), Duration.ofMillis(40));
        long from = System.nanoTime();
        assertNull(client.call("GET", "k"));
        assertTrue(System.nanoTime() - from >= Duration.ofMillis(80).toNanos());
    }

    @Test
    void aReplyIsDelayedUntilItsRelease() throws Exception {
        Fault delayed = faults.delayReply(new Match().command("set"));
        CompletableFuture<Object> reply = send("SET", "k", "v");
        Await.until("the command has run", () -> "v".equals(stored("k")));
        assertFalse(reply.isDone());
        Await.until("the reply is held", () -> delayed.release() == 1);
        assertEquals("OK", reply.get());
    }

    @Test
    void aReplyComesTwice() throws IOException {
        client.call("SET", "a", "first");
        faults.duplicateReply(new Match().command("get"));
        assertEquals("first", client.call("GET", "a"));
        assertEquals("first", client.call("GET", "b"));
        assertNull(client.call("PING"));
    }

    @Test
    void aMutedConnectionStaysMute() throws Exception {
        client.call("CLIENT", "SETNAME", "muted");
        Fault mute = faults.mute(new Match().client("muted"));
        CompletableFuture<Object> reply = send("SET", "k", "v");
        Await.until("the command has run", () -> "v".equals(stored("k")));
        mute.close();
        assertEquals(1, faults.cut(new Connections().client("muted")));
        assertCut(reply);
    }

    @Test
    void aLeaseEndsBeforeACommand() throws IOException {
        client.call("SET", "lock", "owner", "PX", "100000");
        Fault end = faults.endLease(new Match().command("get"));
        assertNull(client.call("GET", "free"));
        assertNull(client.call("GET", "lock"));
        assertEquals(1, end.hits());
    }

    @Test
    void theServerStops() throws Exception {
        Fault stop = faults.stop(LONG);
        CompletableFuture<Object> reply = send("SET", "k", "v");
        stop.awaitHits(1);
        assertNull(stored("k"));
        assertTrue(server.locks().isEmpty());
        stop.close();
        assertEquals("OK", reply.get());
        faults.stop(new Match().command("set"), LONG);
        assertEquals("PONG", client.call("PING"));
    }

    @Test
    void aMessageIsLostOrDelayed() throws Exception {
        client.call("CLIENT", "SETNAME", "listener");
        client.call("SUBSCRIBE", "news");
        Fault lost = faults.dropMessage(new MessageMatch().channel("new*").client("listener"));
        assertEquals(1L, server.command("PUBLISH", "news", "lost"));
        assertEquals(1, lost.hits());
        Fault late = faults.delayMessage(new MessageMatch().channel("news").nth(2));
        for (String text : new String[] {"one", "two", "three"}) {
            server.command("PUBLISH", "news", text);
        }
        assertEquals(1, late.hits());
        CompletableFuture<Object> pong = send("PING");
        assertEquals(Arrays.asList("message", "news", "one"), pong.get());
        late.close();
        assertEquals(Arrays.asList("message", "news", "two"), client.call("PING"));
        assertEquals(Arrays.asList("message", "news", "three"), client.call("PING"));
    }

    @Test
    void aMessageIsDelayedForATime() throws Exception {
        client.call("SUBSCRIBE", "news");
        faults.delayMessage(new MessageMatch(), Duration.ofMillis(40));
        long from = System.nanoTime();
        server.command("PUBLISH", "news", "late");
        assertEquals(Arrays.asList("message", "news", "late"), client.call("PING"));
        assertTrue(System.nanoTime() - from >= Duration.ofMillis(40).toNanos());
    }

    @Test
    void connectionsAreCut() throws Exception {
        client.call("SUBSCRIBE", "news");
        try (Connection other = Clients.connect(server)) {
            other.call("PING");
            assertEquals(1, faults.cut(new Connections().subscribed()));
            assertThrows(IOException.class, () -> client.call("PING"));
            assertEquals("PONG", other.call("PING"));
            assertEquals(1, faults.cut(new Connections()));
        }
    }

    @Test
    void connectionsAreSilenced() throws Exception {
        client.call("PING");
        assertEquals(1, faults.silence(new Connections()));
        CompletableFuture<Object> reply = send("SET", "k", "v");
        Await.until("the command has run", () -> "v".equals(stored("k")));
        assertEquals("PONG", server.command("PING"));
        faults.cut(new Connections());
        assertCut(reply);
    }

    @Test
    void aQueuedCommandAndExecAreRequests() throws IOException {
        faults.failRequest(new Match().command("set"), "ERR no");
        client.call("MULTI");
        assertThrows(IOException.class, () -> client.call("SET", "k", "v"));
        assertTrue(assertThrows(IOException.class, () -> client.call("EXEC")).getMessage().startsWith("EXECABORT"));
        Fault exec = faults.loseReply(new Match().command("exec"));
        client.call("MULTI");
        assertEquals("QUEUED", client.call("SET", "k", "v"));
        assertThrows(IOException.class, () -> client.call("EXEC"));
        assertEquals("v", stored("k"));
        assertEquals(1, exec.hits());
    }

    @Test
    void aScriptIsARequestAndItsCommandsAreNone() throws IOException {
        String script = "return redis.call('INCR', KEYS[1])";
        String sha = (String) client.call("SCRIPT", "LOAD", script);
        Fault inner = faults.failRequest(new Match().command("incr").always(), "ERR no");
        Fault text = faults.failRequest(new Match().scriptContains("'INCR'").key("n").nth(2), "ERR text");
        Fault digest = faults.failRequest(new Match().script(sha).times(2), "ERR sha");
        assertEquals("ERR sha", assertThrows(IOException.class,
                () -> client.call("EVALSHA", sha, "1", "n")).getMessage());
        assertEquals("ERR text", assertThrows(IOException.class,
                () -> client.call("EVAL", script, "1", "n")).getMessage());
        assertEquals("ERR sha", assertThrows(IOException.class,
                () -> client.call("EVAL", script, "1", "n")).getMessage());
        assertEquals(1L, client.call("EVALSHA", sha, "1", "n"));
        assertEquals(0, inner.hits());
        assertEquals(1, text.hits());
        assertEquals(2, digest.hits());
    }

    @Test
    void aBlockingCommandLosesItsElementOrBeginsToWaitLater() throws Exception {
        Fault held = faults.holdRequest(new Match().command("blpop"));
        CompletableFuture<Object> reply = send("BLPOP", "list", "0");
        held.awaitHits(1);
        assertEquals(1L, server.command("RPUSH", "list", "first"));
        assertEquals(1L, server.command("LLEN", "list"));
        held.release();
        assertEquals(Arrays.asList("list", "first"), reply.get());
        faults.loseReply(new Match().command("blpop"));
        CompletableFuture<Object> second = send("BLPOP", "list", "0");
        Await.until("BLPOP waits", () -> String.valueOf(server.kit("INFO", "clients")).contains("blocked_clients:1"));
        server.command("RPUSH", "list", "second");
        assertCut(second);
        assertEquals(0L, server.command("LLEN", "list"));
    }

    @Test
    void aConnectionIsSelectedByItsId() throws IOException {
        long id = (Long) client.call("CLIENT", "ID");
        faults.failRequest(new Match().client(id).always(), "ERR no");
        assertEquals("PONG", server.command("PING"));
        assertThrows(IOException.class, () -> client.call("PING"));
    }

    @Test
    void theListHasTheFaultsOfAll() {
        assertTrue(faults.list().isEmpty());
        Fault first = faults.failRequest(new Match().command("Client List").key("k").client("a b").nth(2).always(),
                "ERR no");
        server.kit("FAULT.ADD", "delay-message", "CHANNEL", "c*", "TIMES", "3", "FOR", "50");
        server.kit("FAULT.ADD", "mute", "SCRIPT", "CONTAINS", "hset");
        assertEquals("[fault 1 fail-request COMMAND client|list KEY k CLIENT a b ERROR ERR no NTH 2 TIMES ALWAYS, "
                + "fault 2 delay-message CHANNEL c* TIMES 3 FOR 50, fault 3 mute SCRIPT CONTAINS hset]",
                faults.list().toString());
        assertEquals(first.id(), faults.list().get(0).id());
        faults.list().get(1).close();
        assertEquals(2, faults.clear());
        assertEquals(0, faults.clear());
        assertTrue(faults.list().isEmpty());
    }

    @Test
    void whatClientsHaveSentIsCounted() throws IOException {
        EndWatch watch = new EndWatch(server);
        client.call("PING");
        assertEquals("{ping=1}", server.commandCounts().toString());
        watch.begin("test");
        assertTrue(server.commandCounts().isEmpty());
        client.call("EVAL", "return redis.call('SET', KEYS[1], 'v')", "1", "k");
        client.call("CLIENT", "ID");
        assertThrows(IOException.class, () -> client.call("GET"));
        server.command("GET", "k");
        server.flush();
        assertEquals("{client|id=1, eval=1, get=2}", server.commandCounts().toString());
        assertNull(watch.end("test", "test"));
        server.restart();
        assertTrue(server.commandCounts().isEmpty());
    }
}
