package io.github.lockredis.server;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Passes lines to a consumer, one after the other, in a thread of its own. So a consumer that blocks
 * does not stop the server: when {@value #LIMIT} lines wait, the oldest ones are dropped. Servers and
 * Sentinels with the same consumer share a queue.
 */
final class LineQueue {
    static final int LIMIT = 10_000;

    private final Consumer<String> consumer;
    private final AtomicInteger dropped = new AtomicInteger(); // since the last line that was passed
    private final ThreadPoolExecutor thread;

    LineQueue(Consumer<String> consumer) {
        this.consumer = consumer;
        // No lambdas here: the first one of a JVM costs milliseconds.
        thread = new ThreadPoolExecutor(1, 1, 2, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(LIMIT), new ThreadFactory() {
                    @Override
                    public Thread newThread(Runnable task) {
                        Thread thread = new Thread(task, "lockredis-log-consumer");
                        thread.setDaemon(true);
                        return thread;
                    }
                }, new RejectedExecutionHandler() {
                    @Override
                    public void rejectedExecution(Runnable task, ThreadPoolExecutor full) {
                        if (full.getQueue().poll() != null) {
                            dropped.incrementAndGet();
                        }
                        full.execute(task);
                    }
                });
        thread.allowCoreThreadTimeOut(true); // the thread ends when there is nothing to pass
    }

    /** Passes a line, soon. */
    void add(String line) {
        thread.execute(new Runnable() {
            @Override
            public void run() {
                int lost = dropped.getAndSet(0);
                if (lost > 0) {
                    pass("lockredis dropped " + lost + " lines: the log consumer is too slow");
                }
                pass(line);
            }
        });
    }

    private void pass(String line) {
        try {
            consumer.accept(line);
        } catch (RuntimeException | Error e) {
            // A test's consumer may fail with an AssertionError. The next line is passed all the same.
        }
    }

    /** Waits until the lines so far are passed. Returns early on a timeout. */
    void await(long millis) throws InterruptedException {
        CountDownLatch passed = new CountDownLatch(1);
        thread.execute(new Runnable() {
            @Override
            public void run() {
                passed.countDown();
            }
        });
        passed.await(millis, TimeUnit.MILLISECONDS);
    }
}
