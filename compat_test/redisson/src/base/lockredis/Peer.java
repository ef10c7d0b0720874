package lockredis;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A second JVM with its own Redisson client, controlled with the words of {@link Steps}. A line
 * to it has an id, the name of one of its threads, and the words. Its answer has the id and the
 * result.
 */
final class Peer implements AutoCloseable {
    /** The id of the first line, which says that the peer is connected. */
    static final int READY = 0;
    private final Map<Integer, CompletableFuture<String>> waiting = new ConcurrentHashMap<>();
    private final AtomicInteger ids = new AtomicInteger();
    private final Process process;
    private final PrintStream lines;

    private Peer(Process process) {
        this.process = process;
        this.lines = new PrintStream(process.getOutputStream(), true);
    }

    static Peer start(Server server) throws Exception {
        return start(server, false);
    }

    /**
     * The client of an impatient peer keeps a silent waiter of a fair lock for {@link
     * Steps#IMPATIENT_MS} only.
     */
    static Peer start(Server server, boolean impatient) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/java");
        for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (option.startsWith("--add-opens")) {
                command.add(option);
            }
        }
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        command.addAll(List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", path,
                PeerMain.class.getName(), server.address(), String.valueOf(server.isCluster()), String.valueOf(impatient)));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Peer peer = new Peer(process);
        Future<String> ready = peer.expect(READY);
        Thread reader = new Thread(() -> peer.read(process.inputReader()), "peer-reader");
        reader.setDaemon(true);
        reader.start();
        Runtime.getRuntime().addShutdownHook(new Thread(peer::close));
        Actor.result(ready);
        return peer;
    }

    /** Starts a step on one of the peer's threads. */
    Future<String> begin(String thread, String... words) {
        int id = ids.incrementAndGet();
        Future<String> answer = expect(id);
        lines.println(id + " " + thread + " " + String.join(" ", words));
        return answer;
    }

    private Future<String> expect(int id) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        waiting.put(id, answer);
        return answer;
    }

    /** Runs a step and waits for its result. */
    String ask(String thread, String... words) throws Exception {
        return Actor.result(begin(thread, words));
    }

    /** Kills the JVM and waits for its end. */
    void die() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private void read(BufferedReader answers) {
        try {
            for (String line = answers.readLine(); line != null; line = answers.readLine()) {
                String[] parts = line.split(" ", 2);
                waiting.remove(Integer.parseInt(parts[0])).complete(parts[1]);
            }
        } catch (IOException e) {
            // The peer has ended, on purpose or not. Waiting callers are told below.
        }
        waiting.values().forEach(answer -> answer.completeExceptionally(new IllegalStateException("the peer is gone")));
    }
}
