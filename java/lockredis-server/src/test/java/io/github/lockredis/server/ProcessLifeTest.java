package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** How long a server lives: never longer than its JVM. */
class ProcessLifeTest {
    @Test
    void aKilledJvmLeavesNoServer() throws Exception {
        try (Child jvm = Child.start("hold")) {
            int port = Integer.parseInt(jvm.value("port"));
            jvm.value("answered");
            assertTrue(Await.listens(port));
            jvm.process.destroyForcibly(); // kill -9
            jvm.waitFor();
            Await.closed(port);
        }
    }

    @Test
    void aJvmEndsThoughItsServerWasNotClosed() throws Exception {
        try (Child jvm = Child.start("leave")) {
            int port = Integer.parseInt(jvm.value("port"));
            assertEquals(0, jvm.waitFor());
            Await.closed(port);
        }
    }

    @Test
    void aServerThatDiesTellsItsLastLine() throws Exception {
        try (LockredisServer server = LockredisServer.start()) {
            try {
                server.command("SHUTDOWN");
            } catch (LockredisException e) {
                // the connection ends without a reply
            }
            Await.until("the server has ended", () -> !server.isRunning());
            try {
                server.command("PING");
                throw new AssertionError("a reply");
            } catch (LockredisException e) {
                assertTrue(e.getMessage().contains("ended by itself with exit code 0"), e.getMessage());
            }
        }
    }
}
