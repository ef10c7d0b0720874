import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Threads that lock and unlock a few locks with Redisson as it comes: {@code LockLoad ADDRESS
 * THREADS LOCKS WARM-UP SPAN}, times in ms. Prints the pairs per second of the span, the p50 and p99
 * of a pair in µs, and how many pairs failed. Failures go to standard error.
 */
public final class LockLoad {
    private static volatile boolean counting;
    private static volatile boolean over;

    /** One thread, and the times of its pairs in ns. */
    private static final class Worker extends Thread {
        private final RedissonClient redisson;
        private final int locks;
        private final AtomicInteger turn;
        long[] took = new long[1 << 16];
        int pairs;
        int failed;

        Worker(RedissonClient redisson, int locks, AtomicInteger turn) {
            this.redisson = redisson;
            this.locks = locks;
            this.turn = turn;
        }

        @Override
        public void run() {
            while (!over) {
                RLock lock = redisson.getLock("orders:" + turn.getAndIncrement() % locks);
                long began = System.nanoTime();
                try {
                    lock.lock();
                    lock.unlock();
                } catch (RuntimeException e) {
                    System.err.println(e);
                    failed++;
                    continue;
                }
                if (counting) {
                    note(System.nanoTime() - began);
                }
            }
        }

        private void note(long nanos) {
            if (pairs == took.length) {
                took = Arrays.copyOf(took, 2 * pairs);
            }
            took[pairs++] = nanos;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://" + args[0]);
        RedissonClient redisson = Redisson.create(config);
        Worker[] workers = new Worker[Integer.parseInt(args[1])];
        AtomicInteger turn = new AtomicInteger();
        for (int i = 0; i < workers.length; i++) {
            workers[i] = new Worker(redisson, Integer.parseInt(args[2]), turn);
            workers[i].start();
        }
        Thread.sleep(Long.parseLong(args[3]));
        counting = true;
        long began = System.nanoTime();
        Thread.sleep(Long.parseLong(args[4]));
        counting = false;
        over = true;
        double seconds = (System.nanoTime() - began) / 1e9;
        for (Worker w : workers) {
            w.join();
        }
        redisson.shutdown();
        long[] all = Arrays.stream(workers).flatMapToLong(w -> Arrays.stream(w.took, 0, w.pairs)).sorted().toArray();
        int failed = Arrays.stream(workers).mapToInt(w -> w.failed).sum();
        System.out.printf("%.1f %.1f %.1f %d%n", all.length / seconds, at(all, 0.5), at(all, 0.99), failed);
    }

    private static double at(long[] sorted, double p) {
        return sorted.length == 0 ? 0 : sorted[(int) (p * (sorted.length - 1))] / 1000.0;
    }
}
