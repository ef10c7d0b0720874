package io.github.lockredis.server;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What a turn of a server's clock has done. */
public final class Turn {
    private final Instant now;
    private final List<String> ended;
    private final int woken;

    Turn(Fields reply) {
        now = Instant.ofEpochMilli(reply.number("now"));
        ended = Collections.unmodifiableList(reply.texts("ended"));
        woken = (int) reply.number("woken");
    }

    private Turn(Instant now, List<String> ended, int woken) {
        this.now = now;
        this.ended = Collections.unmodifiableList(ended);
        this.woken = woken;
    }

    /** Returns what this turn and the next one have done together. */
    public Turn then(Turn next) {
        List<String> both = new ArrayList<>(ended);
        both.addAll(next.ended);
        return new Turn(next.now, both, woken + next.woken);
    }

    /** Returns the server's time at the end of the turn. */
    public Instant now() {
        return now;
    }

    /**
     * Returns the names of the locks whose lease the turn has ended, the earliest first, and behind them the semaphores
     * with permits whose lease has ended. A lock that other readers hold on is not among them.
     */
    public List<String> ended() {
        return ended;
    }

    /** Returns how many clients were told that a lock is free. */
    public int woken() {
        return woken;
    }

    @Override
    public String toString() {
        return "Turn[now=" + now + " ended=" + ended + " woken=" + woken + "]";
    }
}
