package lockredis;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;

/**
 * A JVM with one Redisson client, controlled with lines of text. A request is "id thread word…".
 * The thread of that name runs the words as a step of {@link Steps}; the first step creates the
 * thread. So every thread is an owner of locks. The answer is "id begun ended ok|failed result";
 * begun and ended are nanoseconds since 1970, and the result may be empty. The first line has id
 * 0 and the client's id. "id thread interrupt" interrupts the thread and is answered at once.
 * The JVM ends when its standard input is closed, so it never outlives the test.
 */
final class PeerMain {
    private static final int READY = 0;
    private static final Map<String, Worker> WORKERS = new ConcurrentHashMap<>();

    private PeerMain() {
    }

    public static void main(String[] args) throws IOException {
        RedissonClient client = Redisson.create(Settings.of(args));
        long now = nanos();
        answer(String.valueOf(READY), now, "ok " + client.getId());
        Steps steps = new Steps(client);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            Worker worker = WORKERS.computeIfAbsent(words[1], Worker::new);
            String[] step = Arrays.copyOfRange(words, 2, words.length);
            if (step[0].equals("interrupt")) {
                worker.interrupt();
                answer(words[0], nanos(), "ok");
            } else if (step[0].equals("quit")) {
                client.shutdown(0, 5, TimeUnit.SECONDS);
                answer(words[0], nanos(), "ok");
                break;
            } else {
                worker.submit(() -> perform(words[0], steps, step));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static void perform(String id, Steps steps, String[] step) {
        long begun = nanos();
        String result;
        try {
            result = "ok " + steps.run(step);
        } catch (Throwable e) {
            // Only the answer can report the error to the test.
            result = "failed " + e.toString().replaceAll("\\s+", " ");
        }
        answer(id, begun, result);
    }

    private static void answer(String id, long begun, String result) {
        String line = id + " " + begun + " " + nanos() + " " + result;
        synchronized (System.out) {
            System.out.println(line);
        }
    }

    static long nanos() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    /** A thread named by the test, with its pending steps. */
    private static final class Worker {
        private final List<Runnable> todo = new ArrayList<>();
        private final Thread thread;

        Worker(String name) {
            thread = new Thread(this::work, name);
            thread.setDaemon(true);
            thread.start();
        }

        void interrupt() {
            thread.interrupt();
        }

        void submit(Runnable step) {
            synchronized (todo) {
                todo.add(step);
                todo.notify();
            }
        }

        private void work() {
            while (true) {
                Runnable step;
                synchronized (todo) {
                    while (todo.isEmpty()) {
                        try {
                            todo.wait();
                        } catch (InterruptedException e) {
                            // The interrupt came after its step had ended.
                        }
                    }
                    step = todo.remove(0);
                }
                step.run();
            }
        }
    }
}
