package lockredis;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A further owner of locks: a thread that lives as long as the actor, because a lock belongs to
 * a thread.
 */
final class Actor implements AutoCloseable {
    private static final long ANSWER_S = 40;

    private final ExecutorService thread = Executors.newSingleThreadExecutor(r -> {
        Thread t = new Thread(r, "actor");
        t.setDaemon(true);
        return t;
    });

    /** A step without a result. */
    interface Step {
        void run() throws Exception;
    }

    /** Runs the step on the actor's thread and waits for it. Rethrows its exception. */
    <T> T ask(Callable<T> step) throws Exception {
        return result(begin(step));
    }

    void tell(Step step) throws Exception {
        ask(() -> {
            step.run();
            return null;
        });
    }

    /** Starts a step that may block. */
    <T> Future<T> begin(Callable<T> step) {
        return thread.submit(step);
    }

    Future<Void> beginStep(Step step) {
        return begin(() -> {
            step.run();
            return null;
        });
    }

    /** Waits for the result of a step begun earlier, with a deadline. */
    static <T> T result(Future<T> step) throws Exception {
        try {
            return step.get(ANSWER_S, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        } catch (TimeoutException e) {
            throw new AssertionError("a step was not done within " + ANSWER_S + " s", e);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
