package clients;

import static clients.Checks.equal;
import static clients.Checks.fails;
import static clients.Checks.until;
import static clients.Checks.yes;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.GeoCoordinate;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.StreamEntryID;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.args.GeoUnit;
import redis.clients.jedis.csc.CacheConfig;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.params.XAddParams;
import redis.clients.jedis.params.XAutoClaimParams;
import redis.clients.jedis.params.XReadGroupParams;
import redis.clients.jedis.params.XReadParams;
import redis.clients.jedis.resps.ScanResult;
import redis.clients.jedis.resps.StreamEntry;
import redis.clients.jedis.resps.Tuple;

/** Jedis: single connections, pools, pipelines, transactions, pub/sub, streams. */
final class JedisSuite {
  private final Checks checks = new Checks("jedis");
  private final HostAndPort address;
  private final JedisPooled jedis;

  private JedisSuite(int port) {
    address = new HostAndPort("127.0.0.1", port);
    jedis = new JedisPooled(address.getHost(), address.getPort());
  }

  static void run(int port) {
    JedisSuite suite = new JedisSuite(port);
    suite.connections();
    suite.values();
    suite.batches();
    suite.scripts();
    suite.messages();
    suite.streams();
    suite.jedis.close();
  }

  private Jedis connect() {
    return new Jedis(address);
  }

  private void connections() {
    checks.check("a pool: resources return to it", () -> {
      JedisPoolConfig config = new JedisPoolConfig();
      config.setMaxTotal(2);
      config.setMaxWait(Duration.ofMillis(50));
      config.setTestOnBorrow(true);
      try (JedisPool pool = new JedisPool(config, address.getHost(), address.getPort())) {
        Jedis one = pool.getResource();
        Jedis two = pool.getResource();
        equal("PONG", two.ping());
        fails("Could not get a resource", pool::getResource);
        one.close();
        two.close();
        equal(0, pool.getNumActive());
      }
    });

    checks.check("RESP2, RESP3, a client name and a database", () -> {
      for (RedisProtocol protocol : RedisProtocol.values()) {
        DefaultJedisClientConfig config = DefaultJedisClientConfig.builder()
            .protocol(protocol).clientName("jd-" + protocol).database(2).build();
        try (Jedis own = new Jedis(address, config)) {
          equal("jd-" + protocol, own.clientGetname());
          yes(own.clientInfo().contains(" db=2 "), own.clientInfo());
          own.hset("jd:map", Map.of("a", "1"));
          equal(Map.of("a", "1"), own.hgetAll("jd:map"));
        }
      }
    });

    checks.check("ACL: a user, NOPERM, a wrong password", () -> {
      try (Jedis admin = connect()) {
        admin.aclSetUser("jd-user", "on", ">secret", "~jd:acl:*", "+@all");
        DefaultJedisClientConfig config =
            DefaultJedisClientConfig.builder().user("jd-user").password("secret").build();
        try (Jedis user = new Jedis(address, config)) {
          equal("jd-user", user.aclWhoAmI());
          fails("NOPERM", () -> user.set("jd:other", "x"));
        }
        DefaultJedisClientConfig wrong =
            DefaultJedisClientConfig.builder().user("jd-user").password("wrong").build();
        fails("WRONGPASS", () -> new Jedis(address, wrong).ping());
        admin.aclDelUser("jd-user");
      }
    });

    checks.check("a socket timeout of a blocking command", () -> {
      DefaultJedisClientConfig config =
          DefaultJedisClientConfig.builder().blockingSocketTimeoutMillis(50).build();
      try (Jedis own = new Jedis(address, config)) {
        fails("Read timed out", () -> own.blpop(0, "jd:never"));
      }
    });

    checks.check("the client-side cache is refused below Redis 7.4", () -> {
      DefaultJedisClientConfig config =
          DefaultJedisClientConfig.builder().protocol(RedisProtocol.RESP3).build();
      CacheConfig cache = CacheConfig.builder().maxSize(100).build();
      fails("7.4", () -> {
        try (JedisPooled cached = new JedisPooled(address, config, cache)) {
          cached.get("jd:key");
        }
      });
    });
  }

  private void values() {
    checks.check("strings: SET with parameters, GETEX, binary keys", () -> {
      equal("OK", jedis.set("jd:key", "v", SetParams.setParams().nx().px(60_000)));
      equal(null, jedis.set("jd:key", "w", SetParams.setParams().nx()));
      yes(jedis.pttl("jd:key") > 0, "PTTL");
      byte[] key = {0, 13, 10, (byte) 255};
      jedis.set(key, key);
      equal(key, jedis.get(key));
      equal("v", jedis.getDel("jd:key"));
    });

    checks.check("hashes, lists and sets", () -> {
      equal(2L, jedis.hset("jd:hash", Map.of("a", "1", "b", "2")));
      equal(3.5, jedis.hincrByFloat("jd:hash", "a", 2.5));
      jedis.rpush("jd:list", "a", "b", "c");
      equal(List.of("a", "b", "c"), jedis.lrange("jd:list", 0, -1));
      jedis.sadd("jd:set", "x", "y");
      equal(Set.of("x", "y"), jedis.smembers("jd:set"));
    });

    checks.check("sorted sets with scores", () -> {
      jedis.zadd("jd:zset", Map.of("a", 1.0, "b", 2.5));
      equal(List.of(new Tuple("a", 1.0), new Tuple("b", 2.5)), jedis.zrangeWithScores("jd:zset", 0, -1));
      equal(1L, jedis.zrank("jd:zset", "b"));
      equal(new Tuple("a", 1.0), jedis.zpopmin("jd:zset"));
    });

    checks.check("geo", () -> {
      jedis.geoadd("jd:geo", Map.of("Palermo", new GeoCoordinate(13.361389, 38.115556),
          "Catania", new GeoCoordinate(15.087269, 37.502669)));
      equal(166.2742, jedis.geodist("jd:geo", "Palermo", "Catania", GeoUnit.KM));
      equal("Catania", jedis.geosearch("jd:geo", new GeoCoordinate(15, 37), 100, GeoUnit.KM)
          .get(0).getMemberByString());
    });

    checks.check("BLPOP is served by another client", () -> {
      CompletableFuture<List<String>> popped = CompletableFuture.supplyAsync(() -> {
        try (Jedis blocked = connect()) {
          return blocked.blpop(0, "jd:queue");
        }
      });
      try (Jedis own = connect()) {
        until(() -> own.clientList().contains("cmd=blpop"));
      }
      jedis.rpush("jd:queue", "job");
      equal(List.of("jd:queue", "job"), popped.get());
    });

    checks.check("SCAN and SSCAN with MATCH and COUNT", () -> {
      try (AbstractPipeline pipeline = jedis.pipelined()) {
        for (int i = 0; i < 500; i++) {
          pipeline.set("jd:scan:" + i, "x");
          pipeline.sadd("jd:many", "m" + i);
        }
      }
      Set<String> keys = new HashSet<>();
      String cursor = ScanParams.SCAN_POINTER_START;
      do {
        ScanResult<String> page = jedis.scan(cursor, new ScanParams().match("jd:scan:*").count(100));
        keys.addAll(page.getResult());
        cursor = page.getCursor();
      } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
      equal(500, keys.size());
      yes(jedis.sscan("jd:many", "0", new ScanParams().count(1000)).getResult().size() == 500, "SSCAN");
    });

    checks.check("errors are JedisDataException with the server's text", () -> {
      jedis.set("jd:text", "x");
      fails("WRONGTYPE Operation against a key holding the wrong kind of value", () -> jedis.lpush("jd:text", "y"));
      fails("ERR value is not an integer or out of range", () -> jedis.incr("jd:text"));
    });
  }

  private void batches() {
    checks.check("a pipeline of 5,000 commands", () -> {
      try (Jedis own = connect()) {
        Pipeline pipeline = own.pipelined();
        List<Response<Long>> replies = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
          replies.add(pipeline.incr("jd:counter"));
        }
        pipeline.sync();
        equal(5000L, replies.get(4999).get());
      }
    });

    checks.check("a pipeline with a command that fails", () -> {
      AbstractPipeline pipeline = jedis.pipelined();
      Response<String> set = pipeline.set("jd:p", "v");
      Response<Long> failed = pipeline.lpush("jd:p", "x");
      Response<String> get = pipeline.get("jd:p");
      pipeline.sync();
      equal("OK", set.get());
      fails("WRONGTYPE", failed::get);
      equal("v", get.get());
      pipeline.close();
    });

    checks.check("MULTI and EXEC, DISCARD", () -> {
      try (Jedis own = connect()) {
        Transaction transaction = own.multi();
        Response<String> value = transaction.set("jd:t", "1");
        transaction.incr("jd:t");
        equal(List.of("OK", 2L), transaction.exec());
        equal("OK", value.get());
        Transaction discarded = own.multi();
        discarded.set("jd:t", "9");
        discarded.discard();
        equal("2", own.get("jd:t"));
      }
    });

    checks.check("WATCH: EXEC answers null after another client's write", () -> {
      try (Jedis own = connect()) {
        own.watch("jd:w");
        jedis.set("jd:w", "theirs");
        Transaction transaction = own.multi();
        transaction.set("jd:w", "ours");
        equal(null, transaction.exec());
        equal("theirs", own.get("jd:w"));
      }
    });
  }

  private void scripts() {
    checks.check("EVAL, EVALSHA, NOSCRIPT", () -> {
      equal(List.of("k", "a"), jedis.eval("return {KEYS[1],ARGV[1]}", List.of("k"), List.of("a")));
      String sha = jedis.scriptLoad("return 42");
      equal(42L, jedis.evalsha(sha));
      jedis.scriptFlush();
      fails("NOSCRIPT", () -> jedis.evalsha(sha));
    });

    checks.check("functions: FUNCTION LOAD and FCALL", () -> {
      String code = "#!lua name=jdlib\nredis.register_function('jdecho', function(keys, args) return args[1] end)";
      equal("jdlib", jedis.functionLoadReplace(code));
      equal("hi", jedis.fcall("jdecho", Collections.emptyList(), List.of("hi")));
      equal("jdlib", jedis.functionList().get(0).getLibraryName());
      jedis.functionDelete("jdlib");
    });
  }

  private void messages() {
    checks.check("pub/sub: channels and patterns", () -> {
      BlockingQueue<String> heard = new LinkedBlockingQueue<>();
      JedisPubSub listener = new JedisPubSub() {
        @Override
        public void onMessage(String channel, String message) {
          heard.add(channel + "=" + message);
        }

        @Override
        public void onPMessage(String pattern, String channel, String message) {
          heard.add(pattern + ":" + channel + "=" + message);
        }

        @Override
        public void onSubscribe(String channel, int count) {
          heard.add("subscribed " + count);
        }

        @Override
        public void onPSubscribe(String pattern, int count) {
          heard.add("subscribed " + count);
        }
      };
      CompletableFuture<Void> listening = CompletableFuture.runAsync(() -> {
        try (Jedis own = connect()) {
          own.subscribe(listener, "jd:news");
        }
      });
      equal("subscribed 1", heard.take());
      listener.psubscribe("jd:n*");
      equal("subscribed 2", heard.take());
      equal(2L, jedis.publish("jd:news", "hi"));
      equal("jd:news=hi", heard.take());
      equal("jd:n*:jd:news=hi", heard.take());
      listener.unsubscribe();
      listener.punsubscribe();
      listening.get();
    });

    checks.check("keyspace events", () -> {
      try (Jedis own = connect(); Jedis sub = connect()) {
        own.configSet("notify-keyspace-events", "Ex");
        CompletableFuture<String> expired = new CompletableFuture<>();
        CompletableFuture<Void> subscribed = new CompletableFuture<>();
        JedisPubSub listener = new JedisPubSub() {
          @Override
          public void onMessage(String channel, String key) {
            expired.complete(key);
            unsubscribe();
          }

          @Override
          public void onSubscribe(String channel, int count) {
            subscribed.complete(null);
          }
        };
        CompletableFuture<Void> done =
            CompletableFuture.runAsync(() -> sub.subscribe(listener, "__keyevent@0__:expired"));
        subscribed.get();
        own.psetex("jd:short", 5, "x");
        equal("jd:short", expired.get());
        done.get();
        own.configSet("notify-keyspace-events", "");
      }
    });

    checks.check("MONITOR", () -> {
      CompletableFuture<String> seen = new CompletableFuture<>();
      try (Jedis own = connect()) {
        Thread reader = new Thread(() -> own.monitor(new redis.clients.jedis.JedisMonitor() {
          @Override
          public void onCommand(String command) {
            if (command.contains("jd:seen")) {
              seen.complete(command);
            }
          }
        }));
        reader.setDaemon(true);
        reader.setUncaughtExceptionHandler((thread, failure) -> seen.completeExceptionally(failure));
        reader.start();
        until(() -> {
          jedis.set("jd:seen", "x");
          return seen.isDone();
        });
        yes(seen.get().endsWith("\"SET\" \"jd:seen\" \"x\""), seen.get());
      }
    });
  }

  private void streams() {
    checks.check("streams: XADD, XRANGE, XREAD that blocks", () -> {
      StreamEntryID id = jedis.xadd("jd:stream", Map.of("k", "v"), XAddParams.xAddParams().maxLen(10));
      equal(id, jedis.xrange("jd:stream", "-", "+").get(0).getID());
      CompletableFuture<List<Map.Entry<String, List<StreamEntry>>>> read = CompletableFuture.supplyAsync(() -> {
        try (Jedis blocked = connect()) {
          return blocked.xread(XReadParams.xReadParams().block(0), Map.of("jd:stream", id));
        }
      });
      try (Jedis own = connect()) {
        until(() -> own.clientList().contains("cmd=xread"));
      }
      StreamEntryID second = jedis.xadd("jd:stream", StreamEntryID.NEW_ENTRY, Map.of("k", "w"));
      equal(second, read.get().get(0).getValue().get(0).getID());
    });

    checks.check("streams: a consumer group, XPENDING, XAUTOCLAIM, XINFO", () -> {
      jedis.xgroupCreate("jd:jobs", "group", new StreamEntryID("0-0"), true);
      StreamEntryID id = jedis.xadd("jd:jobs", StreamEntryID.NEW_ENTRY, Map.of("k", "v"));
      jedis.xreadGroup("group", "alice", XReadGroupParams.xReadGroupParams().count(1),
          Map.of("jd:jobs", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY));
      equal(Map.of("alice", 1L), jedis.xpending("jd:jobs", "group").getConsumerMessageCount());
      equal(id, jedis.xautoclaim("jd:jobs", "group", "bob", 0, new StreamEntryID("0-0"),
          XAutoClaimParams.xAutoClaimParams()).getValue().get(0).getID());
      equal("bob", jedis.xinfoConsumers2("jd:jobs", "group").get(1).getName());
      equal(1L, jedis.xack("jd:jobs", "group", id));
      equal(0L, jedis.xinfoGroups("jd:jobs").get(0).getPending());
      equal(1L, jedis.xinfoStream("jd:jobs").getLength());
    });

    checks.check("text in UTF-8 and a value of a megabyte", () -> {
      String text = "ü€😀".repeat(100_000);
      jedis.set("jd:large", text);
      equal(text, jedis.get("jd:large"));
      equal((long) text.getBytes(StandardCharsets.UTF_8).length, jedis.strlen("jd:large"));
    });
  }
}
