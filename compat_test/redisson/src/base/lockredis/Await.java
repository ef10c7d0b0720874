package lockredis;

import java.util.concurrent.Callable;

/** Polling with a deadline, for states that only another thread, process or server brings about. */
final class Await {
    private static final long STEP_MS = 5;

    private Await() {
    }

    /** Returns once the condition holds; fails with the words given when it has not within that many milliseconds. */
    static void until(String what, long millis, Callable<Boolean> condition) {
        long deadline = System.nanoTime() + millis * 1_000_000;
        try {
            while (!condition.call()) {
                if (System.nanoTime() > deadline) {
                    throw new AssertionError("not within " + millis + " ms: " + what);
                }
                Thread.sleep(STEP_MS);
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError("while waiting for: " + what, e);
        }
    }

    /** Lets lease time go by: only where that time itself is under test. */
    static void elapse(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
