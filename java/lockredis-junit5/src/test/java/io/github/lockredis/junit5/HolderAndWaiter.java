package io.github.lockredis.junit5;

import java.util.Arrays;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import io.github.lockredis.server.LockredisServer;

/** Tests that share two clients of the server: one holds locks, and the other one waits for them. */
abstract class HolderAndWaiter {
    static RedissonClient holder;
    static RedissonClient waiter;

    @BeforeAll
    static void connect(LockredisServer server) {
        holder = Clients.redisson(server);
        waiter = Clients.redisson(server);
    }

    @AfterAll
    static void close() {
        holder.shutdown();
        waiter.shutdown();
    }

    /** Returns a lock of a kind. Its name is the kind's. */
    static RLock lock(RedissonClient client, String kind) {
        switch (kind) {
            case "fair":
                return client.getFairLock(kind);
            case "fenced":
                return client.getFencedLock(kind);
            case "spin":
                return client.getSpinLock(kind);
            case "write":
                return client.getReadWriteLock(kind).writeLock();
            case "read":
                return client.getReadWriteLock(kind).readLock();
            case "multi":
                return client.getMultiLock(
                        client.getLock("of " + Thread.currentThread().getId()), client.getLock(kind));
            case "group":
                return client.getMultiLock(kind, Arrays.asList("first", "second"));
            default:
                return client.getLock(kind);
        }
    }
}
