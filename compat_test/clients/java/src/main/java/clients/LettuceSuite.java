package clients;

import static clients.Checks.equal;
import static clients.Checks.fails;
import static clients.Checks.until;
import static clients.Checks.yes;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.Consumer;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.KeyValue;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.Range;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.ScanStream;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.XAutoClaimArgs;
import io.lettuce.core.XGroupCreateArgs;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.support.ConnectionPoolSupport;
import io.lettuce.core.support.caching.CacheAccessor;
import io.lettuce.core.support.caching.CacheFrontend;
import io.lettuce.core.support.caching.ClientSideCaching;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import reactor.core.publisher.Flux;

/** Lettuce: synchronous, asynchronous and reactive, pub/sub and client-side caching. */
final class LettuceSuite {
  private final Checks checks = new Checks("lettuce-core");
  private final RedisURI uri;
  private final RedisClient client;
  private final StatefulRedisConnection<String, String> connection;
  private final RedisCommands<String, String> redis;

  private LettuceSuite(int port) {
    uri = RedisURI.create("127.0.0.1", port);
    client = RedisClient.create(uri);
    connection = client.connect();
    redis = connection.sync();
  }

  static void run(int port) {
    LettuceSuite suite = new LettuceSuite(port);
    suite.connections();
    suite.synchronous();
    suite.asynchronous();
    suite.reactive();
    suite.messages();
    suite.streams();
    suite.caching();
    suite.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }

  private void connections() {
    checks.check("a client name, a database, the library's name", () -> {
      RedisURI own = RedisURI.builder(uri).withClientName("lt-named").withDatabase(4).build();
      try (StatefulRedisConnection<String, String> named = client.connect(own)) {
        equal("lt-named", named.sync().clientGetname());
        yes(redis.clientList().contains("name=lt-named"), redis.clientList());
        named.sync().set("lt:db", "4");
        equal(null, redis.get("lt:db"));
      }
    });

    checks.check("RESP2", () -> {
      RedisClient two = RedisClient.create(uri);
      two.setOptions(ClientOptions.builder().protocolVersion(ProtocolVersion.RESP2).build());
      try (StatefulRedisConnection<String, String> own = two.connect()) {
        own.sync().hset("lt:two", Map.of("a", "1"));
        equal(Map.of("a", "1"), own.sync().hgetall("lt:two"));
      }
      two.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    });

    checks.check("a pool of connections", () -> {
      try (GenericObjectPool<StatefulRedisConnection<String, String>> pool =
          ConnectionPoolSupport.createGenericObjectPool(client::connect, new GenericObjectPoolConfig<>())) {
        try (StatefulRedisConnection<String, String> own = pool.borrowObject()) {
          own.sync().set("lt:pooled", "1");
        }
        equal(1, pool.getNumIdle());
      }
    });

    checks.check("ACL: a user, NOPERM", () -> {
      redis.dispatch(io.lettuce.core.protocol.CommandType.ACL,
          new io.lettuce.core.output.StatusOutput<>(io.lettuce.core.codec.StringCodec.UTF8),
          new io.lettuce.core.protocol.CommandArgs<>(io.lettuce.core.codec.StringCodec.UTF8)
              .add("SETUSER").add("lt-user").add("on").add(">secret").add("~lt:acl:*").add("+@all"));
      RedisURI own = RedisURI.builder(uri).withAuthentication("lt-user", "secret").build();
      try (StatefulRedisConnection<String, String> user = client.connect(own)) {
        equal("lt-user", user.sync().aclWhoami());
        fails("NOPERM", () -> user.sync().set("lt:other", "x"));
      }
      equal(1L, redis.aclDeluser("lt-user"));
    });

    checks.check("a command timeout", () -> {
      try (StatefulRedisConnection<String, String> own = client.connect()) {
        own.setTimeout(Duration.ofMillis(50));
        fails("timed out", () -> own.sync().blpop(0, "lt:never"));
      }
    });

    checks.check("connects again after CLIENT KILL, queued commands run", () -> {
      try (StatefulRedisConnection<String, String> own = client.connect()) {
        long id = own.sync().clientId();
        redis.clientKill(io.lettuce.core.KillArgs.Builder.id(id));
        until(() -> {
          try {
            return own.sync().clientId() > id;
          } catch (io.lettuce.core.RedisException lost) {
            return false;
          }
        });
      }
    });
  }

  private void synchronous() {
    checks.check("sync: strings, hashes, sorted sets", () -> {
      equal("OK", redis.set("lt:key", "v", SetArgs.Builder.nx().px(60_000)));
      equal(null, redis.set("lt:key", "w", SetArgs.Builder.nx()));
      redis.hset("lt:hash", Map.of("a", "1", "b", "2"));
      equal(List.of(KeyValue.just("a", "1"), KeyValue.empty("none")), redis.hmget("lt:hash", "a", "none"));
      redis.zadd("lt:zset", 1.5, "x");
      equal(1.5, redis.zrangeWithScores("lt:zset", 0, -1).get(0).getScore());
      equal("v", redis.getdel("lt:key"));
    });

    checks.check("sync: binary values with ByteArrayCodec", () -> {
      byte[] bytes = {0, 13, 10, (byte) 255};
      try (StatefulRedisConnection<byte[], byte[]> own = client.connect(ByteArrayCodec.INSTANCE)) {
        own.sync().set("lt:bytes".getBytes(), bytes);
        equal(bytes, own.sync().get("lt:bytes".getBytes()));
        own.sync().restore("lt:restored".getBytes(), 0, own.sync().dump("lt:bytes".getBytes()));
        equal(bytes, own.sync().get("lt:restored".getBytes()));
      }
    });

    checks.check("sync: MULTI, EXEC and DISCARD", () -> {
      redis.multi();
      redis.set("lt:t", "1");
      redis.incr("lt:t");
      TransactionResult result = redis.exec();
      equal(List.of("OK", 2L), result.stream().toList());
      redis.multi();
      redis.set("lt:t", "9");
      redis.discard();
      equal("2", redis.get("lt:t"));
    });

    checks.check("sync: WATCH discards EXEC", () -> {
      try (StatefulRedisConnection<String, String> other = client.connect()) {
        redis.watch("lt:w");
        other.sync().set("lt:w", "theirs");
        redis.multi();
        redis.set("lt:w", "ours");
        equal(true, redis.exec().wasDiscarded());
      }
    });

    checks.check("sync: EVAL, EVALSHA and their output types", () -> {
      equal(42L, redis.<Long>eval("return 42", ScriptOutputType.INTEGER));
      equal(List.of("k", "a"), redis.eval("return {KEYS[1],ARGV[1]}", ScriptOutputType.MULTI,
          new String[] {"k"}, "a"));
      String sha = redis.scriptLoad("return redis.status_reply('fine')");
      equal("fine", redis.evalsha(sha, ScriptOutputType.STATUS));
      redis.scriptFlush();
      fails("NOSCRIPT", () -> redis.evalsha(sha, ScriptOutputType.STATUS));
    });

    checks.check("sync: functions", () -> {
      redis.functionLoad("#!lua name=ltlib\nredis.register_function('ltecho', function(k, a) return a[1] end)", true);
      equal("hi", redis.fcall("ltecho", ScriptOutputType.VALUE, new String[0], "hi"));
      equal("ltlib", redis.functionList().get(0).get("library_name"));
      redis.functionFlush(io.lettuce.core.FlushMode.SYNC);
    });

    checks.check("sync: ScanIterator over keys and hashes", () -> {
      for (int i = 0; i < 300; i++) {
        redis.set("lt:scan:" + i, "x");
      }
      ScanIterator<String> keys = ScanIterator.scan(redis, ScanArgs.Builder.limit(50).match("lt:scan:*"));
      equal(300L, keys.stream().distinct().count());
      KeyScanCursor<String> cursor = redis.scan(ScanArgs.Builder.limit(1000).match("lt:hash"));
      yes(cursor.isFinished() || !cursor.getCursor().equals("0"), cursor.getCursor());
      equal(2L, ScanIterator.hscan(redis, "lt:hash").stream().count());
    });

    checks.check("sync: geo and bits", () -> {
      redis.geoadd("lt:geo", 13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania");
      equal(Set.of("Catania"), redis.georadius("lt:geo", 15, 37, 100, io.lettuce.core.GeoArgs.Unit.km));
      equal(List.of(0L, 210L), redis.bitfield("lt:bits",
          io.lettuce.core.BitFieldArgs.Builder.set(io.lettuce.core.BitFieldArgs.unsigned(8), 0, 200)
              .incrBy(io.lettuce.core.BitFieldArgs.unsigned(8), 0, 10)));
    });
  }

  private void asynchronous() {
    RedisAsyncCommands<String, String> async = connection.async();

    checks.check("async: futures and their stages", () -> {
      equal("OK v", async.set("lt:async", "v")
          .thenCombine(async.get("lt:async"), (set, value) -> set + " " + value)
          .toCompletableFuture().get());
      RedisFuture<Long> failed = async.lpush("lt:async", "x");
      yes(failed.await(10, TimeUnit.SECONDS), "no reply");
      yes(failed.getError().startsWith("WRONGTYPE"), failed.getError());
    });

    checks.check("async: a batch with flushCommands", () -> {
      try (StatefulRedisConnection<String, String> own = client.connect()) {
        own.setAutoFlushCommands(false);
        List<RedisFuture<Long>> futures = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
          futures.add(own.async().incr("lt:batch"));
        }
        own.flushCommands();
        yes(LettuceFutures.awaitAll(Duration.ofSeconds(10), futures.toArray(new RedisFuture[0])), "late");
        equal(2000L, futures.get(1999).get());
      }
    });

    checks.check("async: BLPOP on a connection of its own", () -> {
      try (StatefulRedisConnection<String, String> own = client.connect()) {
        RedisFuture<KeyValue<String, String>> popped = own.async().blpop(0, "lt:queue");
        until(() -> redis.clientList().contains("cmd=blpop"));
        redis.rpush("lt:queue", "job");
        equal(KeyValue.just("lt:queue", "job"), popped.get());
      }
    });
  }

  private void reactive() {
    RedisReactiveCommands<String, String> reactive = connection.reactive();

    checks.check("reactive: set, get, a chain", () -> {
      equal("v!", reactive.set("lt:reactive", "v").then(reactive.get("lt:reactive")).map(v -> v + "!").block());
      equal(null, reactive.get("lt:none").block());
    });

    checks.check("reactive: a Flux with back pressure", () -> {
      Flux.range(0, 500).flatMap(i -> reactive.rpush("lt:flux", "v" + i), 32).blockLast();
      equal(500L, reactive.lrange("lt:flux", 0, -1).limitRate(10).count().block());
    });

    checks.check("reactive: a transaction", () -> {
      equal(List.of("OK", "v"), reactive.multi().doOnSuccess(ok -> {
        reactive.set("lt:rt", "v").subscribe();
        reactive.get("lt:rt").subscribe();
      }).then(reactive.exec()).map(result -> result.stream().toList()).block());
    });

    checks.check("reactive: ScanStream", () ->
        equal(300L, ScanStream.scan(reactive, ScanArgs.Builder.limit(20).match("lt:scan:*")).distinct().count().block()));

    checks.check("reactive: pub/sub", () -> {
      try (StatefulRedisPubSubConnection<String, String> own = client.connectPubSub()) {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        own.reactive().observeChannels().doOnNext(message -> heard.add(message.getMessage())).subscribe();
        own.reactive().subscribe("lt:flow").block();
        reactive.publish("lt:flow", "hi").block();
        equal("hi", heard.take());
      }
    });
  }

  private void messages() {
    checks.check("pub/sub: listeners of channels, patterns and shard channels", () -> {
      try (StatefulRedisPubSubConnection<String, String> own = client.connectPubSub()) {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        own.addListener(new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String message) {
            heard.add(channel + "=" + message);
          }

          @Override
          public void message(String pattern, String channel, String message) {
            heard.add(pattern + ":" + channel + "=" + message);
          }

          @Override
          public void smessage(String channel, String message) {
            heard.add("shard " + channel + "=" + message);
          }
        });
        own.sync().subscribe("lt:news");
        own.sync().psubscribe("lt:n*");
        own.sync().ssubscribe("lt:shard");
        equal(2L, redis.publish("lt:news", "hi"));
        equal(1L, redis.spublish("lt:shard", "hi"));
        equal(List.of("lt:news=hi", "lt:n*:lt:news=hi", "shard lt:shard=hi"),
            List.of(heard.take(), heard.take(), heard.take()));
      }
    });

    checks.check("pub/sub: subscribes again after CLIENT KILL", () -> {
      try (StatefulRedisPubSubConnection<String, String> own = client.connectPubSub()) {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        own.addListener(new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String message) {
            heard.add(message);
          }
        });
        own.sync().subscribe("lt:again");
        redis.clientKill(io.lettuce.core.KillArgs.Builder.typePubsub());
        until(() -> redis.publish("lt:again", "back") == 1);
        equal("back", heard.take());
      }
    });
  }

  private void streams() {
    checks.check("streams: XADD, XRANGE, XREAD that blocks", () -> {
      String id = redis.xadd("lt:stream", Map.of("k", "v"));
      equal(id, redis.xrange("lt:stream", Range.unbounded()).get(0).getId());
      try (StatefulRedisConnection<String, String> own = client.connect()) {
        RedisFuture<List<StreamMessage<String, String>>> read =
            own.async().xread(XReadArgs.Builder.block(0), StreamOffset.from("lt:stream", id));
        until(() -> redis.clientList().contains("cmd=xread"));
        String second = redis.xadd("lt:stream", "k", "w");
        equal(second, read.get().get(0).getId());
      }
    });

    checks.check("streams: a consumer group", () -> {
      redis.xgroupCreate(StreamOffset.from("lt:jobs", "0"), "group", XGroupCreateArgs.Builder.mkstream());
      String id = redis.xadd("lt:jobs", Map.of("k", "v"));
      equal(id, redis.xreadgroup(Consumer.from("group", "alice"), StreamOffset.lastConsumed("lt:jobs")).get(0).getId());
      equal(1L, redis.xpending("lt:jobs", "group").getCount());
      equal(id, redis.xautoclaim("lt:jobs",
          XAutoClaimArgs.Builder.xautoclaim(Consumer.from("group", "bob"), Duration.ZERO, "0-0")).getMessages().get(0).getId());
      equal(1L, redis.xack("lt:jobs", "group", id));
      equal(1, redis.xinfoGroups("lt:jobs").size());
    });
  }

  private void caching() {
    checks.check("CacheFrontend: another client's SET invalidates", () -> {
      try (StatefulRedisConnection<String, String> own = client.connect()) {
        Map<String, String> local = new ConcurrentHashMap<>();
        redis.set("lt:cached", "1");
        CacheFrontend<String, String> frontend =
            ClientSideCaching.enable(CacheAccessor.forMap(local), own, TrackingArgs.Builder.enabled());
        equal("1", frontend.get("lt:cached"));
        equal(Map.of("lt:cached", "1"), local);
        redis.set("lt:cached", "2");
        until(() -> "2".equals(frontend.get("lt:cached")));
      }
    });

    checks.check("CacheFrontend: an expired key leaves the cache", () -> {
      try (StatefulRedisConnection<String, String> own = client.connect()) {
        Map<String, String> local = new ConcurrentHashMap<>();
        CacheFrontend<String, String> frontend =
            ClientSideCaching.enable(CacheAccessor.forMap(local), own, TrackingArgs.Builder.enabled().noloop());
        redis.set("lt:short", "1", SetArgs.Builder.px(300));
        equal("1", frontend.get("lt:short"));
        until(() -> frontend.get("lt:short") == null);
        frontend.close();
      }
    });

    checks.check("CacheFrontend: a value loader writes to Redis", () -> {
      try (StatefulRedisConnection<String, String> own = client.connect()) {
        CacheFrontend<String, String> frontend = ClientSideCaching.enable(
            CacheAccessor.forMap(new ConcurrentHashMap<>()), own, TrackingArgs.Builder.enabled());
        equal("loaded", frontend.get("lt:loader", () -> "loaded"));
        equal("loaded", redis.get("lt:loader"));
        equal(Arrays.asList("loaded", null), Arrays.asList(frontend.get("lt:loader"), frontend.get("lt:none")));
      }
    });
  }
}
