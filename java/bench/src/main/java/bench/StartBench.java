package bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Measures how long each way to start a Redis from Java takes, from the call to the first reply on a
 * connection. Prints the table of docs/java.md. Every round of a subject is a JVM of its own.
 */
final class StartBench {
    private static final int ROUNDS = Integer.getInteger("rounds", 15);
    /** How long a round may take, in seconds. */
    private static final int PATIENCE = 60;

    private StartBench() {
    }

    public static void main(String[] args) throws Exception {
        Map<Subject, List<List<Double>>> measured = new EnumMap<>(Subject.class);
        for (int i = 0; i < ROUNDS; i++) { // one subject after the other: each meets the same load
            for (Subject subject : Subject.values()) {
                List<List<Double>> times = measured.computeIfAbsent(subject, s -> Arrays.asList(
                        new ArrayList<>(), new ArrayList<>(), new ArrayList<>()));
                if (subject.isThere()) {
                    measure(subject, times.get(0), times.get(1), times.get(2));
                }
            }
        }
        System.out.printf("| | first start in a JVM | later starts | stop |%n|---|---|---|---|%n");
        measured.forEach((subject, times) -> System.out.printf("| %s | %s | %s | %s |%n",
                subject.title, median(times.get(0)), median(times.get(1)), median(times.get(2))));
    }

    /** Runs one JVM. Its first line has the first start, the others the later ones. */
    private static void measure(Subject subject, List<Double> first, List<Double> later,
            List<Double> stops) throws Exception {
        Path home = Files.createTempDirectory("lockredis-bench");
        List<String> command = new ArrayList<>(Arrays.asList(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-cp", System.getProperty("java.class.path")));
        if (subject == Subject.LOCKREDIS_UNPACKING) {
            command.add("-Dlockredis.home=" + home.resolve("home"));
        }
        command.addAll(Arrays.asList("bench.Round", subject.name()));
        Path output = home.resolve("output");
        Path errors = home.resolve("errors"); // in one file the lines of libraries would be inside those of Round
        Process jvm = new ProcessBuilder(command).redirectError(errors.toFile())
                .redirectOutput(output.toFile()).start();
        try {
            if (!jvm.waitFor(PATIENCE, TimeUnit.SECONDS)) {
                jvm.destroyForcibly().waitFor();
                throw new IOException(subject + " hangs: " + Files.readAllLines(errors));
            }
            boolean started = false;
            for (String line : Files.readAllLines(output)) {
                if (line.startsWith("measured ")) {
                    String[] words = line.split(" ");
                    (started ? later : first).add(Double.valueOf(words[1]));
                    stops.add(Double.valueOf(words[2]));
                    started = true;
                }
            }
            if (jvm.exitValue() != 0 || !started) {
                throw new IOException(subject + ": " + Files.readAllLines(errors));
            }
        } finally {
            delete(home.toFile());
        }
    }

    private static void delete(File file) {
        File[] inside = file.listFiles();
        for (File f : inside == null ? new File[0] : inside) {
            delete(f);
        }
        file.delete();
    }

    private static String median(List<Double> values) {
        if (values.isEmpty()) {
            return "not installed";
        }
        Collections.sort(values);
        return String.format(Locale.ROOT, "%.0f ms", values.get(values.size() / 2));
    }
}
