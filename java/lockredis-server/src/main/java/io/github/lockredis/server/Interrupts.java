package io.github.lockredis.server;

import java.util.function.Supplier;

/** The interrupt of a thread whose test has ended, or has interrupted itself. */
final class Interrupts {
    private Interrupts() {
    }

    /** Runs a task without the thread's interrupt, which it has again behind the task. */
    static <T> T without(Supplier<T> task) {
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
