package io.github.lockredis.server;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The interrupt of a thread whose test has ended, or has interrupted itself. */
final class Interrupts {
    private boolean interrupted; // the thread of hold

    /** Runs a task without the thread's interrupt, which it has again behind the task. */
    static void run(Runnable task) {
        get(() -> {
            task.run();
            return null;
        });
    }

    /** Is {@link #run} for a task with a result. */
    static <T> T get(Supplier<T> task) {
        return new Interrupts().hold(task);
    }

    /** Is {@link #get} for a task that calls {@link #pause}. */
    <T> T hold(Supplier<T> task) {
        interrupted = Thread.interrupted();
        try {
            return task.get();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits some milliseconds, also if the thread is interrupted meanwhile. */
    void pause(long millis) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            try {
                TimeUnit.NANOSECONDS.sleep(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }
}
