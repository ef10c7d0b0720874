package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Collections;

import org.junit.jupiter.api.Test;

class WaitersTest {
    private static void assertWanted(boolean wanted, String lock, String waitsFor, String kind) {
        Leak leak = new Leak(new Fields(Arrays.asList("type", "subscription", "waits-for", waitsFor, "kind", kind)));
        assertEquals(wanted, Waiters.isWanted(lock, Collections.singleton(leak)), lock + " at " + waitsFor);
    }

    @Test
    void aSubscriptionWaitsForOneLock() {
        for (String kind : new String[] {"lock", "fair", "read-write"}) {
            assertWanted(true, "order", "order", kind);
            assertWanted(true, "{order}", "order", kind); // its channel is the same
            assertWanted(true, "order:{42}", "order:{42}", kind);
            assertWanted(false, "order", "order:slots", kind);
            assertWanted(false, "42", "order:{42}", kind);
        }
        assertWanted(false, "order", "order", "semaphore");
        assertWanted(false, "order", "order", "count-down-latch");
        assertWanted(false, "", "", ""); // a channel of no lock
    }
}
