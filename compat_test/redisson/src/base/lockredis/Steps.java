package lockredis;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * What an owner does with a lock, as words, so that this process and a second one can run the
 * same.
 */
final class Steps {
    /** How long a fair lock of the kind "impatient" keeps a silent waiter, in milliseconds. */
    static final long IMPATIENT_MS = 1_000;

    private Steps() {
    }

    /** The lock of a kind: lock, fair, impatient, read, write. */
    static RLock lock(RedissonClient client, String kind, String key) {
        return switch (kind) {
            case "lock" -> client.getLock(key);
            case "fair" -> client.getFairLock(key);
            case "impatient" -> Api.fairLock(client, key, IMPATIENT_MS);
            case "read" -> client.getReadWriteLock(key).readLock();
            case "write" -> client.getReadWriteLock(key).writeLock();
            default -> throw new IllegalArgumentException(kind);
        };
    }

    /** Runs words such as {@code lock fair KEY} and returns the result as one word. */
    static String run(RedissonClient client, String... words) throws Exception {
        RLock lock = lock(client, words[1], words[2]);
        switch (words[0]) {
            case "lock" -> lock.lock();
            case "lease" -> lock.lock(Long.parseLong(words[3]), TimeUnit.MILLISECONDS);
            case "try" -> {
                return String.valueOf(lock.tryLock(Long.parseLong(words[3]), TimeUnit.MILLISECONDS));
            }
            case "unlock" -> lock.unlock();
            case "count" -> count(client, lock, words[3], Integer.parseInt(words[4]));
            case "sign" -> sign(client, lock, words[3], words[4]);
            default -> throw new IllegalArgumentException(words[0]);
        }
        return "done";
    }

    /**
     * Reads, adds one and writes back under the lock: the sum is right only with mutual
     * exclusion.
     */
    private static void count(RedissonClient client, RLock lock, String counter, int times) {
        RBucket<String> bucket = client.getBucket(counter, StringCodec.INSTANCE);
        for (int i = 0; i < times; i++) {
            lock.lock();
            try {
                String seen = bucket.get();
                bucket.set(String.valueOf(seen == null ? 1 : Integer.parseInt(seen) + 1));
            } finally {
                lock.unlock();
            }
        }
    }

    /** Locks, appends a name to the list, unlocks: the list has the order of the owners. */
    private static void sign(RedissonClient client, RLock lock, String list, String name) {
        lock.lock();
        try {
            client.getList(list, StringCodec.INSTANCE).add(name);
        } finally {
            lock.unlock();
        }
    }
}
