package io.github.lockredis.junit5;

import io.github.lockredis.server.LockredisServer;

/** Locks without a client library: the commands that Redisson's scripts send. */
final class Plain {
    /** An owner that is no thread of this JVM: what a busy thread holds is told once. */
    static final String OWNER = "6f1c1a2e-54b7-4f7c-9d4a-0c2f6a8e3b11:" + Long.MAX_VALUE / 10;
    private static final String LOCK = "redis.call('hincrby', KEYS[1], ARGV[2], 1); "
            + "redis.call('pexpire', KEYS[1], ARGV[1]); return nil;";

    private Plain() {
    }

    /** Acquires a lock for {@link #OWNER}. */
    static void lock(LockredisServer server, String name) {
        server.command("EVAL", LOCK, "1", name, "30000", OWNER);
    }

    static void unlock(LockredisServer server, String name) {
        server.command("DEL", name);
    }
}
