package bench;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** One JVM of {@link StartBench}: starts and stops a subject several times. */
final class Round {
    private static final int STARTS = 6;

    private Round() {
    }

    public static void main(String[] args) throws Exception {
        Subject subject = Subject.valueOf(args[0]);
        for (int i = 0; i < STARTS; i++) {
            long begin = System.nanoTime();
            Subject.Running running = subject.start();
            ask(running.port());
            long started = System.nanoTime();
            running.stop();
            long stopped = System.nanoTime();
            System.out.printf(Locale.ROOT, "measured %.2f %.2f%n", (started - begin) / 1e6,
                    (stopped - started) / 1e6);
        }
        System.exit(0); // some subjects leave threads
    }

    private static void ask(int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port)) {
            socket.getOutputStream().write("*1\r\n$4\r\nPING\r\n".getBytes(StandardCharsets.US_ASCII));
            socket.setSoTimeout(10_000);
            InputStream in = socket.getInputStream();
            StringBuilder reply = new StringBuilder(); // jedis-mock answers with a bulk string
            while (!reply.toString().endsWith("PONG\r\n")) {
                int b = in.read();
                if (b < 0) {
                    throw new IOException("not PONG but " + reply);
                }
                reply.append((char) b);
            }
        }
    }
}
