package io.github.lockredis.server;

import java.util.function.Supplier;

/** The interrupt of a thread whose test has ended, or has interrupted itself. */
final class Interrupts {
    private Interrupts() {
    }

    /** Runs a task without the thread's interrupt, which it has again behind the task. */
    static void run(Runnable task) {
        get(() -> {
            task.run();
            return null;
        });
    }

    /** Is {@link #run} for a task with a result. */
    static <T> T get(Supplier<T> task) {
        boolean interrupted = Thread.interrupted();
        try {
            return task.get();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
