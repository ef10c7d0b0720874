package lockredis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RExecutorBatchFuture;
import org.redisson.api.RExecutorFuture;
import org.redisson.api.RScheduledExecutorService;
import org.redisson.api.RScheduledFuture;
import org.redisson.api.RedissonClient;
import org.redisson.api.WorkerOptions;
import org.redisson.api.annotation.RInject;
import org.redisson.api.executor.TaskFailureListener;
import org.redisson.api.executor.TaskSuccessListener;

/** Tasks that are sent through the server to the workers of another client, at once or at a time. */
class ExecutorTest extends Family {
    private static final AtomicInteger BEATS = new AtomicInteger();

    public static final class Sum implements Callable<Integer>, Serializable {
        private final int a;
        private final int b;

        Sum(int a, int b) {
            this.a = a;
            this.b = b;
        }

        @Override
        public Integer call() {
            return a + b;
        }
    }

    public static final class Fails implements Callable<String>, Serializable {
        @Override
        public String call() {
            throw new IllegalStateException("on purpose");
        }
    }

    /** Counts in an atomic long: in whose worker it runs does not matter. */
    public static final class Count implements Runnable, Serializable {
        private final String name;
        @RInject
        private transient RedissonClient redisson;

        Count(String name) {
            this.name = name;
        }

        @Override
        public void run() {
            redisson.getAtomicLong(name).incrementAndGet();
        }
    }

    public static final class Sleep implements Runnable, Serializable {
        @Override
        public void run() {
            try {
                Thread.sleep(30_000);
            } catch (InterruptedException e) {
                BEATS.incrementAndGet();
            }
        }
    }

    private static RedissonClient working; // opened again for a second run after a failure
    private final RScheduledExecutorService executor = client.getExecutorService(key);
    private final Queue<String> heard = new ConcurrentLinkedQueue<>();

    @BeforeAll
    static void start() {
        working = Clients.open(Server.shared());
    }

    @BeforeEach
    void work() {
        working.getExecutorService(key).registerWorkers(WorkerOptions.defaults().workers(3)
                .addListener((TaskSuccessListener) new TaskSuccessListener() {
                    @Override
                    public <T> void onSucceeded(String taskId, T result) {
                        heard.add("succeeded " + taskId);
                    }
                }).addListener((TaskFailureListener) (taskId, cause) -> heard.add("failed " + taskId)));
    }

    @AfterEach
    void delete() {
        working.getExecutorService(key).deregisterWorkers();
        executor.delete();
    }

    @AfterAll
    static void stop() {
        Clients.close(working);
    }

    private long counted() {
        return client.getAtomicLong(key + ":n").get();
    }

    @Test
    void resultsAndFailuresComeBack() throws Exception {
        RExecutorFuture<Integer> sum = executor.submit("sum", new Sum(40, 2));
        assertEquals(42, sum.get(15, TimeUnit.SECONDS));
        assertEquals("sum", sum.getTaskId());
        RExecutorFuture<String> failing = executor.submit("failing", new Fails());
        ExecutionException thrown = assertThrows(ExecutionException.class, () -> failing.get(15, TimeUnit.SECONDS));
        assertTrue(thrown.getMessage().endsWith("on purpose"), thrown.getMessage());
        Await.until("both events", 10_000, () -> heard.containsAll(Set.of("succeeded sum", "failed failing")));
        RExecutorBatchFuture batch = executor.submit(new Sum(1, 1), new Sum(2, 2), new Sum(3, 3));
        batch.get(15, TimeUnit.SECONDS);
        assertEquals(List.of(2, 4, 6), batch.getTaskFutures().stream().map(f -> f.toCompletableFuture().join()).toList());
        assertEquals(0, executor.getTaskCount());
        assertEquals(3, executor.countActiveWorkers());
    }

    @Test
    void everyTaskRunsOnce() {
        for (int i = 0; i < 30; i++) {
            executor.execute(new Count(key + ":n"));
        }
        Await.until("30 tasks", 15_000, () -> counted() == 30);
        Await.until("the end of all tasks", 10_000, () -> executor.getTaskCount() == 0);
        assertEquals(30, counted());
    }

    @Test
    void tasksAreCancelled() {
        int before = BEATS.get();
        RExecutorFuture<?> sleeping = executor.submit("sleeper", new Sleep());
        assertTrue(executor.hasTask("sleeper"));
        assertThrows(TimeoutException.class, () -> sleeping.get(300, TimeUnit.MILLISECONDS));
        assertTrue(sleeping.cancel(true));
        assertThrows(CancellationException.class, () -> sleeping.get(5, TimeUnit.SECONDS));
        Await.until("the interrupt", 10_000, () -> BEATS.get() > before);
        RScheduledFuture<?> later = executor.schedule("later", new Count(key + ":n"), Duration.ofMillis(4_000));
        assertEquals(Set.of("later"), executor.getTaskIds());
        assertTrue(executor.cancelTask("later"));
        assertTrue(later.isCancelled() || !executor.hasTask("later"));
        Await.elapse(4_200);
        assertEquals(0, counted());
    }

    @Test
    void scheduledTasksKeepTheirTime() throws Exception {
        long start = System.nanoTime();
        RScheduledFuture<Integer> late = executor.schedule("late", new Sum(2, 3), Duration.ofMillis(700));
        RScheduledFuture<Integer> soon = executor.schedule("soon", new Sum(1, 1), Duration.ofMillis(200));
        assertTrue(late.getDelay(TimeUnit.MILLISECONDS) <= 700);
        assertEquals(2, soon.get(15, TimeUnit.SECONDS));
        assertTrue(System.nanoTime() - start >= 190_000_000L);
        assertEquals(5, late.get(15, TimeUnit.SECONDS));
        assertTrue(System.nanoTime() - start >= 690_000_000L);
    }

    @Test
    void repeatedTasksRunUntilTheyAreCancelled() {
        executor.scheduleAtFixedRate("rate", new Count(key + ":n"), Duration.ofMillis(10), Duration.ofMillis(300));
        executor.scheduleWithFixedDelay("delay", new Count(key + ":m"), Duration.ofMillis(10), Duration.ofMillis(300));
        Await.until("three runs of each", 20_000,
                () -> counted() >= 3 && client.getAtomicLong(key + ":m").get() >= 3);
        cancelForGood("rate", key + ":n");
        cancelForGood("delay", key + ":m");
        long rate = counted();
        long delay = client.getAtomicLong(key + ":m").get();
        Await.elapse(500);
        assertEquals(rate, counted());
        assertEquals(delay, client.getAtomicLong(key + ":m").get());
    }

    /**
     * Cancels the task until it has not run for more than its period: a task that runs at the moment
     * of its cancellation may be scheduled again.
     */
    private void cancelForGood(String task, String counter) {
        Await.until("the cancellation of " + task, 15_000, () -> {
            executor.cancelTask(task);
            long runs = client.getAtomicLong(counter).get();
            Await.elapse(400);
            return !executor.hasTask(task) && client.getAtomicLong(counter).get() == runs;
        });
    }

    @Test
    void shutdownRefusesTasks() {
        executor.shutdown();
        assertTrue(executor.isShutdown());
        assertThrows(RejectedExecutionException.class, () -> executor.submit(new Sum(1, 2)));
        assertTrue(executor.delete());
        assertFalse(executor.isShutdown());
    }
}
