package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** How long a server lives: never longer than its JVM. */
class ProcessLifeTest {
    @Test
    void aKilledJvmLeavesNoServer() throws Exception {
        try (Child jvm = Child.start("hold")) {
            assertServerEndsWith(jvm);
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aJvmThatIsKilledDuringAStartLeavesNoServer(@TempDir Path folder) throws Exception {
        Path pid = folder.resolve("pid");
        Path script = script(folder, "echo $$ >" + pid + ".new; mv " + pid + ".new " + pid
                + "; while kill -0 $PPID 2>/dev/null; do sleep 0.01; done; exec");
        try (Child jvm = Child.start("hold", "-Dlockredis.executable=" + script)) {
            Await.until("the start has begun", () -> Files.exists(pid));
            jvm.process.destroyForcibly(); // kill -9
            jvm.waitFor();
            String id = new String(Files.readAllBytes(pid)).trim();
            Await.until("process " + id + " has ended",
                    () -> new ProcessBuilder("kill", "-0", id).start().waitFor() != 0);
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aServerEndsWithAJvmBehindAScript(@TempDir Path folder) throws Exception {
        Path script = script(folder, "cat |");
        try (Child jvm = Child.start("hold", "-Dlockredis.executable=" + script)) {
            assertServerEndsWith(jvm);
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void anExecutableThatTakesNoProcessIdStarts(@TempDir Path folder) throws Exception {
        Path script = script(folder, "case \"$*\" in *--exit-with-parent\\ yes*) ;;"
                + " *) echo \"'exit-with-parent' - argument must be 'yes' or 'no'\"; exit 1; esac; exec");
        try (LockredisServer server = LockredisServer.builder().executable(script).start()) {
            assertEquals("PONG", server.command("PING"));
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void anExecutableThatDoesNotSeeThisJvmStarts(@TempDir Path folder) throws Exception {
        Path script = script(folder, "case \"$*\" in *--exit-with-parent\\ yes*) ;;"
                + " *) echo 'The parent process has ended, shutting down'; exit 0; esac; exec");
        try (LockredisServer server = LockredisServer.builder().executable(script).start()) {
            assertEquals("PONG", server.command("PING"));
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aStartBehindAScriptThatIsLateLeavesNoProcess(@TempDir Path folder) throws Exception {
        Path script = parent(folder, "trap 'exit 3' TERM; sleep 600");
        String text = assertThrows(LockredisException.class, () -> LockredisServer.builder()
                .executable(script).startTimeout(Duration.ofMillis(300)).start().close()).getMessage();
        assertTrue(text.startsWith("lockredis did not listen within 300 ms and was stopped"), text);
        assertNoProcess(folder);
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aStartThatIsOverWhenAScriptStartsTheServerLeavesNoProcess(@TempDir Path folder) throws Exception {
        Path script = parent(folder, "sleep 0.01");
        for (int millis = 1; millis <= 40; millis++) {
            try {
                LockredisServer.builder().executable(script).startTimeout(Duration.ofMillis(millis)).start()
                        .close();
            } catch (LockredisException e) {
                assertTrue(e.getMessage().startsWith("lockredis did not listen within " + millis + " ms"),
                        e.getMessage());
            }
        }
        assertNoProcess(folder);
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void aServerThatHangsBehindAScriptIsKilledByARestart(@TempDir Path folder) throws Exception {
        try (LockredisServer server = LockredisServer.builder().executable(parent(folder, ":")).start()) {
            String info = (String) server.command("INFO", "server");
            String pid = info.replaceAll("(?s).*\\nprocess_id:(\\d+)\\r.*", "$1");
            assertEquals(0, new ProcessBuilder("kill", "-STOP", pid).start().waitFor());
            server.restart();
            assertEquals("PONG", server.command("PING"));
        }
        assertNoProcess(folder);
    }

    /** Returns a script that runs a command, and then the server as a process below it. */
    private static Path parent(Path folder, String first) throws Exception {
        return script(folder, first + "; '" + Executables.unpack() + "' --dir " + folder
                + " \"$@\"; exit $?;");
    }

    /** Waits until no process has a file of a folder in its arguments. */
    private static void assertNoProcess(Path folder) throws Exception {
        Await.until("no process of " + folder + " runs", () -> {
            Process ps = new ProcessBuilder("ps", "-A", "-ww", "-o", "args=").start();
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(ps.getInputStream()))) {
                return lines.lines().noneMatch(line -> line.contains(folder.toString()));
            }
        });
    }

    /** Kills a JVM whose server answers, and waits until nothing listens on the server's port. */
    private static void assertServerEndsWith(Child jvm) throws Exception {
        int port = Integer.parseInt(jvm.value("port"));
        jvm.value("answered");
        assertTrue(Await.listens(port));
        jvm.process.destroyForcibly(); // kill -9
        jvm.waitFor();
        Await.closed(port);
    }

    /** Returns a script of one line: a text, the executable on the class path, its arguments. */
    private static Path script(Path folder, String line) throws Exception {
        Path script = folder.resolve("script");
        Files.write(script, ("#!/bin/sh\n" + line + " '" + Executables.unpack() + "' \"$@\"\n")
                .getBytes(StandardCharsets.UTF_8));
        assertTrue(script.toFile().setExecutable(true));
        return script;
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
