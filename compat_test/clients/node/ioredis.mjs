// Checks of ioredis: what its README shows.

import { Redis } from "ioredis";
import { assert, client, event, port, until } from "./check.mjs";

export async function run() {
  const check = client("ioredis");
  const redis = new Redis(port);
  const with2 = (options = {}) => new Redis(port, "127.0.0.1", { ...options });

  await check("connects, and is ready after INFO", async () => {
    const lazy = with2({ lazyConnect: true });
    await lazy.connect();
    assert.equal(lazy.status, "ready");
    assert.equal(await lazy.ping(), "PONG");
    await lazy.quit();
    await until(() => lazy.status === "end");
  });

  await check("RESP3: HELLO on connect, maps as objects", async () => {
    const three = with2({ protocol: 3, replyMapping: "resp3" });
    await three.hset("io:map", { a: 1, b: 2 });
    assert.deepEqual({ ...(await three.call("HGETALL", "io:map")) }, { a: "1", b: "2" });
    await three.zadd("io:score", 1.5, "x");
    assert.equal(await three.zscore("io:score", "x"), 1.5);
    three.disconnect();
  });

  await check("RESP2", async () => {
    const two = with2({ protocol: 2 });
    await two.hset("io:map2", { a: 1 });
    assert.deepEqual(await two.hgetall("io:map2"), { a: "1" });
    two.disconnect();
  });

  await check("the connection's name, database and CLIENT LIST", async () => {
    const named = with2({ connectionName: "io-named", db: 3 });
    assert.equal(await named.client("GETNAME"), "io-named");
    const list = await redis.client("LIST");
    assert.match(list, /name=io-named [^\n]* db=3 /);
    named.disconnect();
  });

  await check("SET and GET, a callback and a promise", async () => {
    assert.equal(await redis.set("io:key", "value"), "OK");
    assert.equal(await redis.get("io:key"), "value");
    const byCallback = await new Promise((resolve, reject) =>
      redis.get("io:key", (error, result) => (error ? reject(error) : resolve(result))));
    assert.equal(byCallback, "value");
    assert.equal(await redis.set("io:key", "x", "PX", 100_000, "NX"), null);
    assert.equal(await redis.set("io:key", "y", "GET"), "value");
  });

  await check("binary values with the Buffer methods", async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 128]);
    await redis.set("io:bytes", bytes);
    assert.deepEqual(await redis.getBuffer("io:bytes"), bytes);
    assert.deepEqual(await redis.lpush("io:list", bytes, "b"), 2);
    assert.deepEqual(await redis.lrangeBuffer("io:list", 0, -1), [Buffer.from("b"), bytes]);
  });

  await check("hashes, sets and sorted sets", async () => {
    assert.equal(await redis.hset("io:hash", new Map([["a", 1], ["b", 2]])), 2);
    assert.deepEqual(await redis.hgetall("io:hash"), { a: "1", b: "2" });
    assert.equal(await redis.sadd("io:set", [1, 3, 5, 7]), 4);
    assert.equal(await redis.zadd("io:zset", 1, "one", 2, "dos", 4, "quatro", 3, "three"), 4);
    assert.deepEqual(await redis.zrange("io:zset", 0, 2, "WITHSCORES"), ["one", "1", "dos", "2", "three", "3"]);
    assert.deepEqual(await redis.zpopmax("io:zset"), ["quatro", "4"]);
  });

  await check("mset and hset with objects, mget in their order", async () => {
    await redis.mset({ "io:m1": 1, "io:m2": 2 });
    assert.deepEqual(await redis.mget("io:m1", "io:none", "io:m2"), ["1", null, "2"]);
  });

  await check("a pipeline, one command of it fails", async () => {
    const results = await redis.pipeline().set("io:p", "bar").get("io:p").lpush("io:p", 1).exec();
    assert.deepEqual(results.slice(0, 2), [[null, "OK"], [null, "bar"]]);
    assert.match(results[2][0].message, /^WRONGTYPE/);
  });

  await check("a pipeline of 5,000 commands", async () => {
    const pipeline = redis.pipeline();
    for (let i = 0; i < 5000; i++) pipeline.incr("io:counter");
    const results = await pipeline.exec();
    assert.equal(results.length, 5000);
    assert.deepEqual(results.at(-1), [null, 5000]);
  });

  await check("MULTI in a pipeline", async () => {
    assert.deepEqual(await redis.multi().set("io:t", "bar").get("io:t").exec(), [[null, "OK"], [null, "bar"]]);
  });

  await check("MULTI without a pipeline", async () => {
    redis.multi({ pipeline: false });
    assert.equal(await redis.set("io:t", "1"), "QUEUED");
    assert.deepEqual(await redis.exec(), [[null, "OK"]]);
  });

  await check("a queued command with a wrong arity aborts EXEC", async () => {
    const failed = redis.multi().set("io:t").set("io:t", "new").exec();
    await assert.rejects(failed, /EXECABORT/);
    assert.equal(await redis.get("io:t"), "1");
  });

  await check("WATCH: EXEC answers null after another client's write", async () => {
    const other = with2();
    await redis.watch("io:w");
    await other.set("io:w", "theirs");
    assert.equal(await redis.multi().set("io:w", "ours").exec(), null);
    assert.equal(await redis.get("io:w"), "theirs");
    other.disconnect();
  });

  await check("defineCommand: EVALSHA, and EVAL after SCRIPT FLUSH", async () => {
    const lua = "return {KEYS[1],KEYS[2],ARGV[1],ARGV[2]}";
    redis.defineCommand("myecho", { numberOfKeys: 2, lua });
    assert.deepEqual(await redis.myecho("k1", "k2", "a1", "a2"), ["k1", "k2", "a1", "a2"]);
    await redis.script("FLUSH");
    assert.deepEqual(await redis.myecho("k1", "k2", "a1", "a2"), ["k1", "k2", "a1", "a2"]);
    const [[, buffers]] = await redis.pipeline().myechoBuffer("k1", "k2", "a1", "a2").exec();
    assert.deepEqual(buffers[0], Buffer.from("k1"));
  });

  await check("scripts of the option, with a number of keys at run time", async () => {
    const scripted = with2({ scripts: { count: { lua: "return #KEYS .. '/' .. #ARGV" } } });
    assert.equal(await scripted.count(2, "a", "b", "c"), "2/1");
    scripted.disconnect();
  });

  await check("a script's error names the script", async () => {
    await assert.rejects(redis.eval("return redis.call('incr', KEYS[1], 'x')", 1, "io:x"), /ERR Wrong number of args/);
    await assert.rejects(redis.eval("return redis.error_reply('MY wrong')", 0), /^ReplyError: MY wrong/);
  });

  await check("pub/sub: messages as text and as Buffer", async () => {
    const sub = with2();
    assert.equal(await sub.subscribe("io:news", "io:music"), 2);
    const message = event(sub, "message");
    const buffer = event(sub, "messageBuffer");
    assert.equal(await redis.publish("io:news", "hello"), 1);
    assert.deepEqual(await message, ["io:news", "hello"]);
    assert.deepEqual(await buffer, [Buffer.from("io:news"), Buffer.from("hello")]);
    assert.equal(await sub.unsubscribe("io:news"), 1);
    sub.disconnect();
  });

  await check("pub/sub: patterns", async () => {
    const sub = with2();
    assert.equal(await sub.psubscribe("io:pat?ern"), 1);
    const message = event(sub, "pmessage");
    await redis.publish("io:pattern", "hi");
    assert.deepEqual(await message, ["io:pat?ern", "io:pattern", "hi"]);
    assert.deepEqual(await redis.pubsub("NUMPAT"), 1);
    sub.disconnect();
  });

  await check("pub/sub: shard channels", async () => {
    const sub = with2();
    assert.equal(await sub.ssubscribe("io:shard"), 1);
    const message = event(sub, "smessage");
    assert.equal(await redis.spublish("io:shard", "hi"), 1);
    assert.deepEqual(await message, ["io:shard", "hi"]);
    sub.disconnect();
  });

  await check("pub/sub: a subscribed RESP2 connection refuses other commands", async () => {
    const sub = with2({ protocol: 2 });
    await sub.subscribe("io:news");
    await assert.rejects(sub.get("io:key"), /subscriber mode/);
    await sub.unsubscribe();
    assert.equal(await sub.echo("again"), "again");
    sub.disconnect();
  });

  await check("keyspace events", async () => {
    await redis.config("SET", "notify-keyspace-events", "Ex");
    const sub = with2();
    await sub.subscribe("__keyevent@0__:expired");
    const message = event(sub, "message");
    await redis.set("io:short", "x", "PX", 5);
    assert.deepEqual(await message, ["__keyevent@0__:expired", "io:short"]);
    await redis.config("SET", "notify-keyspace-events", "");
    sub.disconnect();
  });

  await check("MONITOR", async () => {
    const monitor = await redis.monitor();
    const seen = new Promise((resolve) => monitor.on("monitor", (time, args, source, database) => {
      if (args[0].toLowerCase() === "set") resolve([args, source, database, time]);
    }));
    await redis.set("io:seen", "a b");
    const [args, source, database, time] = await seen;
    assert.deepEqual(args.slice(1), ["io:seen", "a b"]);
    assert.match(source, /^127\.0\.0\.1:\d+$/);
    assert.equal(database, "0");
    assert.match(time, /^\d+\.\d{6}$/);
    monitor.disconnect();
  });

  await check("streams: XREAD blocks until XADD", async () => {
    const reader = with2();
    const waiting = reader.xread("BLOCK", 0, "STREAMS", "io:stream", "$");
    await until(async () => /cmd=xread/.test(await redis.client("LIST")));
    const id = await redis.xadd("io:stream", "*", "name", "John", "age", "20");
    assert.deepEqual(await waiting, [["io:stream", [[id, ["name", "John", "age", "20"]]]]]);
    reader.disconnect();
  });

  await check("streams: a consumer group", async () => {
    await redis.xgroup("CREATE", "io:jobs", "group", "0", "MKSTREAM");
    const id = await redis.xadd("io:jobs", "MAXLEN", "~", 100, "*", "k", "v");
    const read = await redis.xreadgroup("GROUP", "group", "alice", "COUNT", 1, "STREAMS", "io:jobs", ">");
    assert.deepEqual(read, [["io:jobs", [[id, ["k", "v"]]]]]);
    assert.deepEqual(await redis.xautoclaim("io:jobs", "group", "bob", 0, "0"), ["0-0", [[id, ["k", "v"]]], []]);
    assert.equal(await redis.xack("io:jobs", "group", id), 1);
    assert.deepEqual(await redis.xpending("io:jobs", "group"), [0, null, null, null]);
  });

  await check("BLPOP is served by another client, and times out", async () => {
    const blocked = with2();
    const popped = blocked.blpop("io:queue", 0);
    await until(async () => /cmd=blpop/.test(await redis.client("LIST")));
    await redis.rpush("io:queue", "job");
    assert.deepEqual(await popped, ["io:queue", "job"]);
    assert.equal(await blocked.blpop("io:queue", 0.01), null);
    blocked.disconnect();
  });

  await check("scanStream, hscanStream, sscanStream and zscanStream", async () => {
    await Promise.all(Array.from({ length: 300 }, (_, i) => redis.set(`io:scan:${i}`, i)));
    await redis.hset("io:big", Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`f${i}`, i])));
    const collect = async (stream) => {
      const all = [];
      for await (const part of stream) all.push(...part);
      return all;
    };
    assert.equal(new Set(await collect(redis.scanStream({ match: "io:scan:*", count: 50 }))).size, 300);
    assert.equal((await collect(redis.hscanStream("io:big"))).length, 1200);
    assert.equal((await collect(redis.sscanStream("io:set"))).length, 4);
    assert.equal((await collect(redis.zscanStream("io:zset"))).length, 6);
    assert.equal((await collect(redis.scanStream({ type: "hash", match: "io:big" }))).length, 1);
  });

  await check("keyPrefix reaches the keys of commands and scripts", async () => {
    const prefixed = with2({ keyPrefix: "io:pre:" });
    await prefixed.set("a", "1");
    assert.equal(await redis.get("io:pre:a"), "1");
    assert.equal(await prefixed.eval("return KEYS[1]", 1, "b"), "io:pre:b");
    await prefixed.sort("list", "BY", "weight_*->f", "GET", "#");
    prefixed.disconnect();
  });

  await check("transformers: a hash as an array of pairs", async () => {
    const before = Redis.Command._transformer.reply.hgetall;
    Redis.Command.setReplyTransformer("hgetall", (flat) => flat.length);
    const length = await redis.hgetall("io:hash");
    Redis.Command.setReplyTransformer("hgetall", before);
    assert.equal(length, 4);
  });

  await check("reconnects after CLIENT KILL, and subscribes again", async () => {
    const sub = with2({ retryStrategy: () => 1 });
    await sub.subscribe("io:again");
    const reconnected = event(sub, "reconnecting");
    await redis.client("KILL", "TYPE", "pubsub");
    await reconnected;
    await until(async () => (await redis.pubsub("NUMSUB", "io:again"))[1] === 1);
    const message = event(sub, "message");
    await redis.publish("io:again", "back");
    assert.deepEqual(await message, ["io:again", "back"]);
    sub.disconnect();
  });

  await check("enableAutoPipelining", async () => {
    const auto = with2({ enableAutoPipelining: true });
    await until(() => auto.status === "ready");
    const values = await Promise.all(["io:m1", "io:m2", "io:none"].map((key) => auto.get(key)));
    assert.deepEqual(values, ["1", "2", null]);
    auto.disconnect();
  });

  await check("commandTimeout ends a command that blocks", async () => {
    const impatient = with2({ commandTimeout: 30 });
    await assert.rejects(impatient.brpop("io:never", 0), /timed out/);
    impatient.disconnect();
  });

  await check("errors: unknown command, wrong type, stack", async () => {
    await assert.rejects(redis.call("NOSUCH", "a"), /ERR unknown command 'NOSUCH', with args beginning with: 'a'/);
    await assert.rejects(redis.incr("io:hash"), /WRONGTYPE/);
  });

  await check("ACL: a user with rights to some keys", async () => {
    await redis.acl("SETUSER", "io-user", "on", ">secret", "~io:acl:*", "+@all", "-@dangerous", "+info");
    const user = with2({ username: "io-user", password: "secret" });
    assert.equal(await user.acl("WHOAMI"), "io-user");
    await user.set("io:acl:1", "x");
    await assert.rejects(user.set("io:other", "x"), /NOPERM/);
    user.disconnect();
    assert.equal(await redis.acl("DELUSER", "io-user"), 1);
  });

  await redis.quit();
}
