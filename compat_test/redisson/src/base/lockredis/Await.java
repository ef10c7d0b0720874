package lockredis;

import java.util.concurrent.Callable;

/** Polling with a deadline, for states that another thread, process or server causes. */
final class Await {
    private static final long STEP_MS = 5;

    private Await() {
    }

    /**
     * Returns when the condition holds. Fails with the given words when it does not hold within
     * that many milliseconds.
     */
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

    /**
     * until for the end of something with a time to live. It returns in a later millisecond: Redisson's
     * commands do not agree whether the millisecond of the end belongs to the time.
     */
    static void untilPast(String what, long millis, Callable<Boolean> condition) {
        until(what, millis, condition);
        elapse(2);
    }

    /** Waits for lease time to pass. Only for tests of that time itself. */
    static void elapse(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
