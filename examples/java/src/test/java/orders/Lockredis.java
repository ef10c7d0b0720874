package orders;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;

/** A server of its own for a test class. It ends with the JVM, even when that is killed. */
final class Lockredis implements AutoCloseable {
    private final Process process;
    final int port;
    final String address;

    Lockredis() throws IOException {
        Path binary = Path.of(System.getProperty("lockredis", "../../bin/lockredis"));
        if (!Files.isExecutable(binary)) {
            throw new IOException(binary + " is missing: go build -o bin/lockredis ./cmd/lockredis");
        }
        process = new ProcessBuilder(binary.toString(), "--port", "auto", "--exit-with-parent", "yes")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader output = new BufferedReader(new InputStreamReader(process.getInputStream()));
        String line = output.readLine();
        while (line != null && !line.startsWith("port=")) {
            line = output.readLine();
        }
        if (line == null) {
            throw new IOException("lockredis ended before it listened");
        }
        port = Integer.parseInt(line.substring("port=".length()));
        address = "redis://127.0.0.1:" + port;
        Thread reader = new Thread(() -> drain(output), "lockredis output");
        reader.setDaemon(true);
        reader.start();
    }

    /** Reads the server's log, so that a full pipe never blocks the server. */
    private static void drain(BufferedReader output) {
        try {
            while (output.readLine() != null) {
                continue;
            }
        } catch (IOException e) {
            // closed: the server has ended
        }
    }

    @Override
    public void close() {
        process.destroy();
    }
}
