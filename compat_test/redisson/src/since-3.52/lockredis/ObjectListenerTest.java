package lockredis;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.redisson.api.*;
import org.redisson.api.listener.*;
import org.redisson.api.stream.StreamAddArgs;
import org.redisson.api.stream.StreamTrimArgs;

/** Listeners of single changes of an object: one keyspace event each. */
class ObjectListenerTest extends Family {
    private final Queue<String> heard = new ConcurrentLinkedQueue<>();

    private void hears(String event, Runnable change) {
        change.run();
        Await.until("the event " + event, 10_000, () -> heard.contains(event));
        heard.clear();
    }

    @Test
    void listAndSet() {
        RList<String> list = client.getList(key);
        list.addListener((ListAddListener) name -> heard.add("add"));
        list.addListener((ListSetListener) name -> heard.add("set"));
        list.addListener((ListInsertListener) name -> heard.add("insert"));
        list.addListener((ListRemoveListener) name -> heard.add("remove"));
        list.addListener((ListTrimListener) name -> heard.add("trim"));
        hears("add", () -> list.add("a"));
        hears("set", () -> list.set(0, "b"));
        hears("insert", () -> list.addBefore("b", "a"));
        hears("remove", () -> list.remove("a"));
        list.add("c");
        hears("trim", () -> list.trim(0, 0));
        RSet<String> set = client.getSet(key + ":set");
        set.addListener((SetAddListener) name -> heard.add("sadd"));
        set.addListener((SetRemoveListener) name -> heard.add("srem"));
        set.addListener((SetRemoveRandomListener) name -> heard.add("spop"));
        hears("sadd", () -> set.add("a"));
        hears("srem", () -> set.remove("a"));
        set.add("b");
        hears("spop", set::removeRandom);
    }

    @Test
    void scoredSetBucketAndCounter() {
        RScoredSortedSet<String> scored = client.getScoredSortedSet(key + ":z");
        scored.addListener((ScoredSortedSetAddListener) name -> heard.add("zadd"));
        scored.addListener((ScoredSortedSetRemoveListener) name -> heard.add("zrem"));
        hears("zadd", () -> scored.add(1, "a"));
        hears("zrem", () -> scored.remove("a"));
        RBucket<String> bucket = client.getBucket(key + ":b");
        bucket.addListener((SetObjectListener) name -> heard.add("set " + name));
        hears("set " + key + ":b", () -> bucket.set("x"));
        RAtomicLong number = client.getAtomicLong(key + ":n");
        number.addListener((IncrByListener) name -> heard.add("incr"));
        hears("incr", number::incrementAndGet);
    }

    @Test
    void stream() {
        RStream<String, String> stream = client.getStream(key);
        stream.addListener((StreamAddListener) name -> heard.add("add"));
        stream.addListener((StreamRemoveListener) name -> heard.add("remove"));
        stream.addListener((StreamTrimListener) name -> heard.add("trim"));
        stream.addListener((StreamCreateGroupListener) name -> heard.add("group"));
        stream.addListener((StreamCreateConsumerListener) name -> heard.add("consumer"));
        stream.addListener((StreamRemoveConsumerListener) name -> heard.add("no consumer"));
        stream.addListener((StreamRemoveGroupListener) name -> heard.add("no group"));
        hears("add", () -> stream.add(StreamAddArgs.entry("a", "1")));
        hears("group", () -> stream.createGroup(org.redisson.api.stream.StreamCreateGroupArgs.name("g")));
        hears("consumer", () -> stream.createConsumer("g", "c"));
        hears("no consumer", () -> stream.removeConsumer("g", "c"));
        hears("no group", () -> stream.removeGroup("g"));
        stream.add(StreamAddArgs.entry("b", "2"));
        hears("trim", () -> stream.trim(StreamTrimArgs.maxLen(1).noLimit()));
        hears("remove", () -> stream.remove(stream.getInfo().getLastGeneratedId()));
    }
}
