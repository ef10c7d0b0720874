package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which tests are told of an end. */
class EndWatchTest {
    private static final String BESIDE = "Other tests ran on this server when its end was noticed.";

    private final LockredisServer server = LockredisServer.start();
    private final EndWatch watch = new EndWatch(server);

    @AfterEach
    void stop() {
        server.close();
    }

    private void endServer() {
        assertThrows(LockredisException.class, () -> server.command("SHUTDOWN"));
    }

    private void assertEnd(String start, String text) {
        assertTrue(text != null && text.startsWith(start + "lockredis at " + server.redissonAddress()
                + " ended by itself with exit code 0."), "" + text);
    }

    @Test
    void anEndIsToldToTheTestThatRunsAlone() {
        watch.begin("a");
        endServer();
        String text = watch.end("a", "a");
        assertEnd("", text);
        assertEquals(-1, text.indexOf(BESIDE), text);
        watch.begin("b");
        assertEquals("PONG", server.command("PING"));
        assertNull(watch.end("b", "b"));
        assertNull(watch.outside());
    }

    private String entries() {
        return ((List<?>) server.command("CONFIG", "GET", "hash-max-listpack-entries")).get(1).toString();
    }

    private void setEntries(String value) {
        server.command("CONFIG", "SET", "hash-max-listpack-entries", value);
    }

    @Test
    void whatATestChangesOfTheServerIsAsBeforeAtItsEnd() {
        setEntries("7");
        server.command("ACL", "SETUSER", "alice", "on", "nopass");
        watch.begin("a");
        setEntries("8");
        server.command("CONFIG", "SET", "notify-keyspace-events", "KEA");
        server.command("ACL", "SETUSER", "alice", "off");
        server.command("ACL", "SETUSER", "bob", "on", "nopass");
        server.command("FUNCTION", "LOAD", "#!lua name=x\nredis.register_function('f', function() return 1 end)");
        server.command("CLIENT", "PAUSE", "3600000", "WRITE");
        assertNull(watch.end("a", "a"));
        assertEquals("7", entries());
        assertEquals("[notify-keyspace-events, AKE]",
                server.command("CONFIG", "GET", "notify-keyspace-events").toString());
        assertEquals("[alice, default]", server.command("ACL", "USERS").toString());
        assertTrue(server.command("ACL", "LIST").toString().contains("user alice on nopass"));
        assertEquals("[]", server.command("FUNCTION", "LIST").toString());
        assertEquals("OK", server.command("SET", "key", "value"));
    }

    @Test
    void ofTestsSideBySideTheLastOnePutsTheServersSettingsBack() {
        watch.begin("a");
        watch.begin("b");
        setEntries("8");
        assertNull(watch.end("a", "a"));
        assertEquals("8", entries());
        assertNull(watch.end("b", "b"));
        assertEquals("512", entries());
    }

    @Test
    void anEndIsToldToEachTestThatRunsWhenItIsNoticed() {
        watch.begin("ended before");
        watch.begin("bystander");
        watch.begin("culprit");
        assertNull(watch.end("ended before", "ended before"));
        endServer();
        String text = watch.end("bystander", "bystander");
        assertEnd("", text);
        assertTrue(text.contains(BESIDE), text);
        watch.begin("begun behind it");
        assertEquals("PONG", server.command("PING"));
        assertEquals(text, watch.end("culprit", "culprit"));
        assertNull(watch.end("begun behind it", "begun behind it"));
        assertNull(watch.outside());
    }

    @Test
    void aTestThatBeginsIsNotToldOfTheEndBeforeIt() {
        watch.begin("culprit");
        endServer();
        LeakCheck.prepare(server, false);
        watch.begin("next");
        watch.begin("next");
        assertNull(watch.end("next", "next"));
        assertEnd("", watch.end("culprit", "culprit"));
        assertNull(watch.outside());
    }

    @Test
    void anEndThatIsNoticedOutsideOfTestsNamesTheTestBefore() {
        endServer();
        watch.begin("a");
        assertNull(watch.end("a", "OrdersTest.a"));
        assertEnd("before the first test: ", watch.outside());
        endServer();
        assertEnd("after the test OrdersTest.a: ", watch.outside());
        assertNull(watch.outside());
    }

    private void assertLateLockIsTold() {
        String text = watch.outside();
        assertTrue(text.startsWith("after the test OrdersTest.a had ended: a leak on " + server.redissonAddress()
                + ":\n  lock \"order:1\""), text);
        assertNull(watch.outside());
    }

    @Test
    void aLeakThatAppearsBehindATestNamesTheTest() {
        watch.begin("a");
        LeakCheck check = LeakCheck.begin(server);
        assertNull(check.end(true));
        assertNull(watch.end("a", "OrdersTest.a"));
        server.command("SET", "order:1", "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11", "NX", "EX", "3600");
        watch.lookAgain(check, true);
        watch.begin("b");
        assertNull(watch.end("b", "OrdersTest.b"));
        assertLateLockIsTold();
    }

    @Test
    void aLockThatAppearsUntilTheNextTestBeginsIsDeleted() {
        LeakCheck check = watch.beginEmpty("a");
        assertNull(check.end(true));
        assertNull(watch.end("a", "OrdersTest.a"));
        watch.lookAgain(check, true);
        server.command("EVAL", "redis.call('hincrby', KEYS[1], ARGV[1], 1)", "1", "order:1",
                "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:" + Thread.currentThread().getId());
        LeakCheck next = watch.beginEmpty("b");
        assertEquals(0L, server.command("DBSIZE"));
        assertNull(next.end(true));
        assertNull(watch.end("b", "OrdersTest.b"));
        assertNull(watch.outside());
    }

    @Test
    void aTestBeginsEmptyBehindAnOutage() {
        LeakCheck check = watch.beginEmpty("a");
        server.stop();
        assertNull(check.end(true));
        assertNull(watch.end("a", "OrdersTest.a"));
        watch.lookAgain(check, true);
        check = watch.beginEmpty("b");
        assertEquals("PONG", server.command("PING"));
        assertNull(check.end(true));
        assertNull(watch.end("b", "OrdersTest.b"));
        assertNull(watch.outside());
    }

    @Test
    void aTestThatHasNotBegunIsToldOfAnEnd() {
        endServer();
        assertEnd("", watch.end("a", "a"));
    }

    @Test
    void anOutageOfATestIsNotUndoneByTheNext() {
        watch.begin("a");
        server.stop();
        watch.begin("b");
        assertThrows(LockredisException.class, () -> server.command("PING"));
        assertNull(watch.end("a", "a"));
        assertNull(watch.end("b", "b"));
    }
}
