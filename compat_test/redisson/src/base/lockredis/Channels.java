package lockredis;

import redis.clients.jedis.Jedis;

/** Names of the channels and keys that Redisson puts beside a lock. */
final class Channels {
    private Channels() {
    }

    static String lock(String key) {
        return "redisson_lock__channel:{" + key + "}";
    }

    static String readWrite(String key) {
        return Api.readWriteChannel(key);
    }

    static String semaphore(String key) {
        return "redisson_sc:{" + key + "}";
    }

    static String fairQueue(String key) {
        return "redisson_lock_queue:{" + key + "}";
    }

    static String fairTimeouts(String key) {
        return "redisson_lock_timeout:{" + key + "}";
    }

    /** How many connections listen on the channel. */
    static long subscribers(Jedis jedis, String channel) {
        return Long.parseLong(jedis.pubsubNumSub(channel).get(channel));
    }
}
