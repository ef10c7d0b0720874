package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A start that fails says why, in the server's own words. */
class ErrorsTest {
    private static String message(LockredisServer.Builder builder) {
        return assertThrows(LockredisException.class, () -> builder.start().close()).getMessage();
    }

    private static void contains(String text, String... parts) {
        for (String part : parts) {
            assertTrue(text.contains(part), "no \"" + part + "\" in: " + text);
        }
    }

    @Test
    void aPortInUseIsNamed() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            int port = other.getLocalPort();
            contains(message(LockredisServer.builder().port(port)),
                    "lockredis: cannot start: listen tcp 127.0.0.1:" + port + ": bind: ",
                    "Without port(" + port + ") the server takes a free port",
                    "exit code: 1");
        }
    }

    @Test
    void aPortThatWasTakenDuringAnOutageIsNamed() throws Exception {
        try (LockredisServer server = LockredisServer.start()) {
            server.stop();
            InetAddress local = InetAddress.getByName("127.0.0.1");
            try (ServerSocket other = new ServerSocket(server.port(), 1, local)) {
                contains(assertThrows(LockredisException.class, server::restart).getMessage(),
                        "127.0.0.1:" + other.getLocalPort() + ": bind: ",
                        "Another process took the port while nothing listened there");
            }
            server.restart();
        }
    }

    @Test
    void anUnknownDirectiveIsQuoted() {
        String message = message(LockredisServer.builder().directive("no-such-directive", "a b"));
        contains(message, "FATAL CONFIG FILE ERROR", ">>> 'no-such-directive \"a b\"'",
                "Bad directive or wrong number of arguments");
    }

    @Test
    void aWrongRuleOfAUserIsNamedWithoutThePassword() {
        String message = message(LockredisServer.builder().user("app", "on", ">s3cret", "+nosuch"));
        contains(message, "FATAL CONFIG FILE ERROR", "user app on >(redacted) +nosuch",
                "'+nosuch': Unknown command or category name in ACL");
        assertFalse(message.contains("s3cret"), message);
    }

    @Test
    void aRefusedDirectiveHasItsReason() {
        contains(message(LockredisServer.builder().directive("daemonize", "yes")),
                "lockredis does not detach itself");
    }

    @Test
    void aMissingConfigFileIsNamed() {
        contains(message(LockredisServer.builder().configFile(Paths.get("no-such.conf"))),
                "no-such.conf");
    }

    @Test
    void aMissingExecutableIsNamed() {
        contains(message(LockredisServer.builder().executable(Paths.get("no-such-file"))),
                "start no-such-file: ");
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aServerThatDoesNotListenIsStopped(@TempDir Path folder) throws Exception {
        Path script = folder.resolve("silent");
        Files.write(script, "#!/bin/sh\necho thinking\nexec sleep 600\n".getBytes("US-ASCII"));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
        contains(message(LockredisServer.builder().executable(script)
                .startTimeout(Duration.ofMillis(300))),
                "did not listen within 300 ms", "| thinking");
    }

    @Test
    void whatNoClientCanUseIsRefused() {
        char[] text = new char[16385];
        Arrays.fill(text, 'p');
        contains(assertThrows(IllegalArgumentException.class,
                () -> LockredisServer.builder().password(new String(text))).getMessage(),
                "password: 16385 bytes are too many. A client can send 16384 before it has logged in");
        contains(assertThrows(IllegalArgumentException.class, () -> LockredisTopology
                .builder(Topology.SENTINEL).sentinelPassword(new String(text))).getMessage(),
                "sentinelPassword: 16385 bytes are too many");
        String longest = new String(text, 0, 16384);
        try (LockredisServer server = LockredisServer.builder().password(longest)
                .directives("", "# a comment").start()) {
            assertEquals("PONG", server.command("PING"));
            for (String mode : new String[] {"OFF", "skip"}) {
                contains(assertThrows(IllegalArgumentException.class,
                        () -> server.command("client", "reply", mode)).getMessage(),
                        "CLIENT REPLY " + mode + ": command waits for a reply");
            }
            assertEquals("OK", server.command("CLIENT", "REPLY", "ON"));
        }
    }

    @Test
    void aCommandThatOnlyChangesItsConnectionIsRefused() {
        try (LockredisServer server = LockredisServer.start()) {
            for (String line : new String[] {"SELECT 1", "multi", "WATCH key", "Subscribe news",
                "PSUBSCRIBE *", "SSUBSCRIBE news", "MONITOR", "CLIENT SETNAME orders", "client tracking on"}) {
                String[] words = line.split(" ");
                String name = words[0].equalsIgnoreCase("client") ? words[0] + " " + words[1] : words[0];
                contains(assertThrows(IllegalArgumentException.class,
                        () -> server.command(words), line).getMessage(),
                        name.toUpperCase(Locale.ROOT) + ": each call has a connection of its own");
            }
            assertEquals("value", server.command("EVAL", "redis.call('SELECT', 1)"
                    + " redis.call('SET', KEYS[1], 'value') return redis.call('GET', KEYS[1])", "1", "key"));
            assertEquals("OK", server.command("CLIENT", "PAUSE", "0"));
        }
    }

    @Test
    void anErrorReplyIsQuoted() {
        try (LockredisServer server = LockredisServer.start()) {
            contains(assertThrows(IllegalArgumentException.class, server::command).getMessage(),
                    "command has no words");
            contains(assertThrows(IllegalArgumentException.class,
                    () -> server.command("HELLO", "3")).getMessage(), "command speaks RESP2");
            LockredisException e = assertThrows(LockredisException.class,
                    () -> server.command("GET"));
            assertEquals("GET on " + server.redissonAddress()
                    + ": ERR wrong number of arguments for 'get' command", e.getMessage());
        }
    }

    @Test
    void aMissingPlatformIsNamed() throws Exception {
        try (Child jvm = Child.start("close", "-Dos.arch=riscv64")) {
            contains(jvm.value("failed"), "lockredis has no executable for ", "-riscv64: it has "
                    + "linux-amd64, linux-arm64, darwin-amd64, darwin-arm64, windows-amd64");
        }
    }

    @Test
    void aMissingArtifactIsNamed() throws Exception {
        try (Child jvm = Child.startWith(".*lockredis-server.*", "close")) {
            contains(jvm.value("failed"), "add the dependency io.github.lockredis:lockredis-binary-"
                    + Platform.current());
        }
    }
}
