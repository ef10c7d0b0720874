package lockredis;

import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;

/** Names of the channels and keys that Redisson uses besides the lock's key. */
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

    /** The number of subscribers of the channel. In a cluster it may be a shard channel. */
    static long subscribers(Jedis jedis, String channel) {
        List<?> shard = (List<?>) jedis.sendCommand(Protocol.Command.PUBSUB, "SHARDNUMSUB", channel);
        return Long.parseLong(jedis.pubsubNumSub(channel).get(channel)) + (Long) shard.get(1);
    }
}
