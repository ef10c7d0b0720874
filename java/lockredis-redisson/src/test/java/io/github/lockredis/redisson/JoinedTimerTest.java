package io.github.lockredis.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.command.CommandTask;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;

/** Timeouts in a turn and in real time. */
class JoinedTimerTest {
    private final HashedWheelTimer real = new HashedWheelTimer();
    private final JoinedTimer timer = new JoinedTimer(real);
    private final List<String> ran = Collections.synchronizedList(new ArrayList<>());

    @AfterEach
    void stop() {
        timer.stop();
    }

    private Timeout timeout(String name, long minutes) {
        return timer.newTimeout(timeout -> ran.add(name), minutes, TimeUnit.MINUTES);
    }

    private void turn(long minutes) {
        timer.turn(TimeUnit.MINUTES.toMillis(minutes));
        assertEquals(Collections.emptyList(), timer.run());
        timer.setAlarms();
    }

    @Test
    void aTurnRunsWhatIsDueInOrder() {
        Timeout third = timeout("third", 3);
        timeout("second", 2);
        timeout("first", 1);
        turn(2);
        assertEquals(Arrays.asList("first", "second"), ran);
        assertFalse(third.isExpired());
        turn(1);
        assertEquals(Arrays.asList("first", "second", "third"), ran);
        assertTrue(third.isExpired());
        assertFalse(third.cancel());
    }

    @Test
    void aTimeoutThatIsCancelledDoesNotRun() {
        Timeout timeout = timeout("cancelled", 1);
        assertTrue(timeout.cancel());
        turn(2);
        assertEquals(Collections.emptyList(), ran);
        assertTrue(timeout.isCancelled());
        assertFalse(timer.next().isPresent());
    }

    @Test
    void realTimeGoesOn() throws Exception {
        CompletableFuture<Timeout> fired = new CompletableFuture<>();
        timer.newTimeout(fired::complete, 1, TimeUnit.MILLISECONDS);
        assertTrue(fired.get(30, TimeUnit.SECONDS).isExpired());
    }

    @Test
    void aTurnShortensTheRealTime() throws Exception {
        CompletableFuture<Timeout> fired = new CompletableFuture<>();
        timer.newTimeout(fired::complete, TimeUnit.HOURS.toMillis(1) + 500, TimeUnit.MILLISECONDS);
        turn(60);
        fired.get(30, TimeUnit.SECONDS);
    }

    @Test
    void aTimeoutFromBeforeIsTakenOver() throws Exception {
        Timeout kept = real.newTimeout(timeout -> ran.add("kept"), 2, TimeUnit.MINUTES);
        Timeout cancelled = real.newTimeout(timeout -> ran.add("cancelled"), 2, TimeUnit.MINUTES);
        timer.takeOver();
        timer.handedOver().get(30, TimeUnit.SECONDS);
        cancelled.cancel();
        turn(1);
        assertEquals(Collections.emptyList(), ran);
        turn(2);
        assertEquals(Collections.singletonList("kept"), ran);
        assertFalse(kept.cancel());
    }

    @Test
    void theTimeoutOfACommandKeepsRealTime() throws Exception {
        CommandTask task = new CommandTask();
        Timeout timeout = timer.newTimeout(task, 1, TimeUnit.MINUTES);
        turn(10);
        assertFalse(task.ran);
        assertEquals(Collections.singleton(task), timer.inFlight());
        assertFalse(timer.awaitReplies(timer.inFlight(), 1));
        timeout.cancel(); // the reply is there
        assertTrue(timer.awaitReplies(Collections.singleton(task), 1));
        assertEquals(1, timer.idle());
    }

    @Test
    void afterLeavingTheClockDoesNothing() {
        timeout("before", 1);
        timer.leave();
        timeout("after", 1);
        turn(10);
        assertEquals(Collections.emptyList(), ran);
    }

    @Test
    void whatATaskThrowsIsReturned() {
        IllegalArgumentException thrown = new IllegalArgumentException("of a task");
        timer.newTimeout(timeout -> {
            throw thrown;
        }, 1, TimeUnit.MINUTES);
        timeout("next", 2);
        timer.turn(TimeUnit.MINUTES.toMillis(2));
        assertEquals(Collections.singletonList(thrown), timer.run());
        assertEquals(Collections.singletonList("next"), ran);
    }
}
