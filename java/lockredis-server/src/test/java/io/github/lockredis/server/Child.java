package io.github.lockredis.server;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Another JVM, which runs {@link ChildMain}. */
final class Child implements AutoCloseable {
    /** How long a test waits for another process, in seconds. CI's machines are loaded. */
    static final int PATIENCE = 90;

    final Process process;
    private final BufferedReader out;

    private Child(List<String> command, Path directory) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("LOCKREDIS_"));
        if (directory != null) {
            builder.directory(directory.toFile());
        }
        process = builder.start();
        out = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Starts a JVM with options. what chooses the part of ChildMain. */
    static Child start(String what, String... options) throws IOException {
        return new Child(command(what, ".*", options), null);
    }

    /** Starts a JVM in a directory. before is a command that runs the rest of its line, or empty. */
    static Child startIn(Path directory, List<String> before, String what, String... options)
            throws IOException {
        List<String> command = new ArrayList<>(before);
        command.addAll(command(what, ".*", options));
        return new Child(command, directory);
    }

    /** Starts a JVM with the parts of the class path that match. */
    static Child startWith(String classPath, String what, String... options) throws IOException {
        return new Child(command(what, classPath, options), null);
    }

    private static List<String> command(String what, String classPath, String... options) {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.add("-XX:TieredStopAtLevel=1");
        command.addAll(Arrays.asList(options));
        command.add("-cp");
        command.add(Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(part -> part.matches(classPath))
                .collect(Collectors.joining(File.pathSeparator)));
        command.add(ChildMain.class.getName());
        command.add(what);
        return command;
    }

    /** Returns the next line, or null at the end. */
    String line() throws IOException {
        return out.readLine();
    }

    /** Returns the rest of a line that starts with a word. Fails if the JVM does not print one. */
    String value(String word) throws IOException {
        StringBuilder seen = new StringBuilder();
        for (String line = line(); line != null; line = line()) {
            if (line.startsWith(word + " ")) {
                return line.substring(word.length() + 1);
            }
            seen.append(line).append('\n');
        }
        throw new AssertionError("the JVM printed no line with " + word + ":\n" + seen);
    }

    /** Returns everything that the JVM prints until its end. */
    String rest() throws IOException {
        return out.lines().collect(Collectors.joining("\n"));
    }

    /** Lets {@link ChildMain} go on. */
    void proceed() throws IOException {
        process.getOutputStream().close();
    }

    int waitFor() throws InterruptedException {
        if (!process.waitFor(PATIENCE, TimeUnit.SECONDS)) {
            throw new AssertionError("the JVM still runs after " + PATIENCE + " s");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
