package lockredis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RBucket;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RSemaphore;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * The steps of a peer, as words: kind, verb, name, arguments. Times are in milliseconds; a lease
 * of -1 is the watchdog's. The methods of the Go type peer.Owner describe the steps.
 */
final class Steps {
    private static final TimeUnit MS = TimeUnit.MILLISECONDS;
    private final RedissonClient client;

    Steps(RedissonClient client) {
        this.client = client;
    }

    String run(String[] words) throws Exception {
        String kind = words[0];
        switch (kind) {
            case "thread":
                return String.valueOf(Thread.currentThread().getId());
            case "count":
                return count(words[1], words[2], words[3], Integer.parseInt(words[4]));
            case "counter":
                return String.valueOf(client.<String>getBucket(words[1], StringCodec.INSTANCE).get());
            case "semaphore":
                return semaphore(words[1], client.getSemaphore(words[2]), words);
            case "permit":
                return permit(words[1], client.getPermitExpirableSemaphore(words[2]), words);
            case "latch":
                return latch(words[1], client.getCountDownLatch(words[2]), words);
            case "rate":
                return rate(words[1], client.getRateLimiter(words[2]), words);
            default:
                return lock(words[1], one(kind, words[2]), words);
        }
    }

    private RLock one(String kind, String name) {
        switch (kind) {
            case "lock":
                return client.getLock(name);
            case "fair":
                return client.getFairLock(name);
            case "spin":
                return client.getSpinLock(name);
            case "fenced":
                return client.getFencedLock(name);
            case "read":
                return client.getReadWriteLock(name).readLock();
            case "write":
                return client.getReadWriteLock(name).writeLock();
            case "multi":
                List<RLock> locks = new ArrayList<>();
                for (String part : name.split(",")) {
                    locks.add(client.getLock(part));
                }
                return client.getMultiLock(locks.toArray(new RLock[0]));
            default:
                throw new IllegalArgumentException("no kind " + kind);
        }
    }

    private static String lock(String verb, RLock lock, String[] words) throws InterruptedException {
        switch (verb) {
            case "lock":
                lock.lockInterruptibly(number(words, 3), MS);
                return lock instanceof RFencedLock fenced ? fenced.getToken().toString() : "";
            case "trylock":
                return String.valueOf(lock.tryLock(number(words, 3), number(words, 4), MS));
            case "unlock":
                lock.unlock();
                return "";
            case "forceunlock":
                return String.valueOf(lock.forceUnlock());
            case "isheld":
                return String.valueOf(lock.isHeldByCurrentThread());
            case "islocked":
                return String.valueOf(lock.isLocked());
            case "holdcount":
                return String.valueOf(lock.getHoldCount());
            case "ttl":
                return String.valueOf(lock.remainTimeToLive());
            default:
                throw new IllegalArgumentException("no verb " + verb);
        }
    }

    /** Increments a counter by reading and writing, each time under the lock. */
    private String count(String kind, String name, String counter, int times) throws Exception {
        RBucket<String> bucket = client.getBucket(counter, StringCodec.INSTANCE);
        for (int i = 0; i < times; i++) {
            Release held = hold(kind, name);
            try {
                String before = bucket.get();
                bucket.set(String.valueOf(before == null ? 1 : Long.parseLong(before) + 1));
            } finally {
                held.run();
            }
        }
        return "";
    }

    /** Releases an acquired lock or permit. */
    private interface Release {
        void run();
    }

    private Release hold(String kind, String name) throws InterruptedException {
        switch (kind) {
            case "semaphore":
                RSemaphore semaphore = client.getSemaphore(name);
                semaphore.acquire();
                return semaphore::release;
            case "permit":
                RPermitExpirableSemaphore permits = client.getPermitExpirableSemaphore(name);
                String id = permits.acquire();
                return () -> permits.release(id);
            default:
                RLock lock = one(kind, name);
                lock.lockInterruptibly();
                return lock::unlock;
        }
    }

    private static String semaphore(String verb, RSemaphore semaphore, String[] words) throws InterruptedException {
        switch (verb) {
            case "set":
                return String.valueOf(semaphore.trySetPermits((int) number(words, 3)));
            case "add":
                semaphore.addPermits((int) number(words, 3));
                return "";
            case "acquire":
                semaphore.acquire((int) number(words, 3));
                return "";
            case "tryacquire":
                return String.valueOf(semaphore.tryAcquire((int) number(words, 3), number(words, 4), MS));
            case "release":
                semaphore.release((int) number(words, 3));
                return "";
            case "available":
                return String.valueOf(semaphore.availablePermits());
            case "drain":
                return String.valueOf(semaphore.drainPermits());
            default:
                throw new IllegalArgumentException("no verb " + verb);
        }
    }

    private static String permit(String verb, RPermitExpirableSemaphore permits, String[] words) throws InterruptedException {
        switch (verb) {
            case "set":
                return String.valueOf(permits.trySetPermits((int) number(words, 3)));
            case "add":
                permits.addPermits((int) number(words, 3));
                return "";
            case "acquire":
                return String.join(",", permits.acquire((int) number(words, 3), number(words, 4), MS));
            case "tryacquire":
                return String.join(",", permits.tryAcquire((int) number(words, 3), number(words, 4), number(words, 5), MS));
            case "release":
                permits.release(List.of(words[3].split(",")));
                return "";
            case "tryrelease":
                return String.valueOf(permits.tryRelease(words[3]));
            case "update":
                return String.valueOf(permits.updateLeaseTime(words[3], number(words, 4), MS));
            case "available":
                return String.valueOf(permits.availablePermits());
            case "permits":
                return String.valueOf(permits.getPermits());
            default:
                throw new IllegalArgumentException("no verb " + verb);
        }
    }

    private static String latch(String verb, RCountDownLatch latch, String[] words) throws InterruptedException {
        switch (verb) {
            case "set":
                return String.valueOf(latch.trySetCount(number(words, 3)));
            case "countdown":
                latch.countDown();
                return "";
            case "count":
                return String.valueOf(latch.getCount());
            case "await":
                return String.valueOf(latch.await(number(words, 3), MS));
            default:
                throw new IllegalArgumentException("no verb " + verb);
        }
    }

    private static String rate(String verb, RRateLimiter limiter, String[] words) {
        switch (verb) {
            case "set":
                return String.valueOf(limiter.trySetRate(RateType.valueOf(words[3]), number(words, 4), Duration.ofMillis(number(words, 5))));
            case "reset":
                limiter.setRate(RateType.valueOf(words[3]), number(words, 4), Duration.ofMillis(number(words, 5)));
                return "";
            case "acquire":
                limiter.acquire(number(words, 3));
                return "";
            case "tryacquire":
                return String.valueOf(limiter.tryAcquire(number(words, 3), Duration.ofMillis(number(words, 4))));
            case "available":
                return String.valueOf(limiter.availablePermits());
            default:
                throw new IllegalArgumentException("no verb " + verb);
        }
    }

    private static long number(String[] words, int i) {
        return Long.parseLong(words[i]);
    }
}
