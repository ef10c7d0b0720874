package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server's lines reach the log of the JVM, and only for debugging. */
class ServerLogTest {
    @Test
    void withoutSlf4jTheLinesGoToTheJdksLog(@TempDir Path folder) throws Exception {
        Path settings = Files.write(folder.resolve("logging.properties"), Arrays.asList(
                "handlers=java.util.logging.ConsoleHandler",
                "java.util.logging.ConsoleHandler.level=ALL",
                "io.github.lockredis.server.level=ALL"));
        try (Child jvm = Child.startWith("(?!.*slf4j).*", "hold",
                "-Djava.util.logging.config.file=" + settings)) {
            awaitLine(jvm, "FINE: .*Ready to accept connections");
        }
    }

    @Test
    void slf4jGetsTheLinesIfItIsThere() throws Exception {
        try (Child jvm = Child.start("hold",
                "-Dorg.slf4j.simpleLogger.log.io.github.lockredis.server=debug")) {
            awaitLine(jvm, ".*DEBUG io.github.lockredis.server .*Ready to accept connections");
        }
    }

    @Test
    void withASlf4jThatLogsNothingWarningsGoToTheJdksLog() throws Exception {
        try (Child jvm = Child.startWith("(?!.*slf4j-simple).*", "shutdown")) {
            awaitLine(jvm, "WARNING: .* # User requested shutdown.*");
        }
    }

    @Test
    void onlyLinesOfTheServerAreWarnings() {
        assertTrue(ServerLog.isWarning("123:M 03 Nov 2026 03:44:42.876 # out of memory"));
        for (String line : new String[] {"123:M 03 Nov 2026 03:44:42.876 * Listening # here",
            "123:X 03 Nov 2026 03:44:42.876 # +sdown master", "12 3:M 03 Nov 2026 03:44:42.876 # x",
            "port=1", "# comment", ":M 03 Nov 2026 03:44:42.876 # x", ""}) {
            assertFalse(ServerLog.isWarning(line), line);
        }
    }

    @Test
    void plainTextHasLettersAndDigits() {
        assertTrue(Text.isPlain("azAZ09-", "-"));
        assertFalse(Text.isPlain("a-", ""));
        assertFalse(Text.isPlain("\u00e4", "_"));
        assertEquals("a_-_9", Text.plain("a -\u00e49", "-", "_"));
    }

    @Test
    void aServerThatStartsAndStopsPrintsNothing() throws Exception {
        for (String what : new String[] {"close", "topology"}) {
            try (Child jvm = Child.start(what)) {
                assertEquals("yes", jvm.value("done"));
                assertEquals("", jvm.rest(), what);
            }
        }
    }

    private static void awaitLine(Child jvm, String pattern) throws Exception {
        StringBuilder seen = new StringBuilder();
        for (String line = jvm.line(); line != null; line = jvm.line()) {
            if (line.matches(pattern)) {
                return;
            }
            assertFalse(line.startsWith("failed"), line);
            seen.append(line).append('\n');
        }
        assertTrue(false, "no line " + pattern + " in:\n" + seen);
    }
}
