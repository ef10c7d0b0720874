package io.github.lockredis.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Collections;

import org.junit.jupiter.api.Test;

class WaitersTest {
    private static void assertWanted(boolean wanted, String lock, String channel) {
        assertEquals(wanted, Waiters.isWanted(lock, Collections.singleton(channel)), lock + " at " + channel);
    }

    @Test
    void aChannelIsThatOfOneLock() {
        String waiter = ":6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:17";
        for (String prefix : new String[] {"redisson_lock__channel:", "redisson_rwlock:"}) {
            assertWanted(true, "order", prefix + "{order}");
            assertWanted(true, "order", prefix + "{order}" + waiter);
            assertWanted(true, "order:{42}", prefix + "order:{42}");
            assertWanted(true, "order:{42}", prefix + "order:{42}" + waiter);
            assertWanted(false, "order", prefix + "{order:slots}");
            assertWanted(false, "order", prefix + "{order}:other");
            assertWanted(false, "42", prefix + "order:{42}");
        }
        assertWanted(false, "order", "redisson_sc:{order}");
        assertWanted(false, "order", "{order}");
    }
}
