// Checks of node-redis: what its README and its docs folder show.

import { createClient, createClientPool, defineScript, RESP_TYPES, WatchError } from "redis";
import { assert, client as suite, event, until, url } from "./check.mjs";

export async function run() {
  const check = suite("redis");
  const open = async (options = {}) => {
    const opened = createClient({ url, ...options });
    opened.on("error", () => {}); // the README asks for a listener
    return opened.connect();
  };
  const client = await open();

  await check("connects: isOpen, isReady, destroy", async () => {
    const other = createClient({ url }).on("error", () => {});
    await other.connect();
    assert.equal(other.isReady, true);
    assert.equal(await other.ping(), "PONG");
    other.destroy();
    assert.equal(other.isOpen, false);
  });

  await check("close waits for the replies of commands that are sent", async () => {
    const other = await open();
    const replies = Promise.all([other.set("nr:close", "1"), other.get("nr:close")]);
    await other.close();
    assert.deepEqual(await replies, ["OK", "1"]);
  });

  await check("RESP2 and RESP3 give equal replies", async () => {
    const two = await open({ RESP: 2 });
    await client.hSet("nr:eq", { a: "1", b: "2" });
    await client.zAdd("nr:eqz", [{ score: 1.5, value: "x" }]);
    for (const one of [two, client]) {
      assert.deepEqual({ ...(await one.hGetAll("nr:eq")) }, { a: "1", b: "2" });
      assert.deepEqual(await one.zRangeWithScores("nr:eqz", 0, -1), [{ value: "x", score: 1.5 }]);
    }
    two.destroy();
  });

  await check("the connection's name, database and library in CLIENT LIST", async () => {
    const named = await open({ name: "nr-named", database: 2 });
    assert.equal(await named.clientGetName(), "nr-named");
    const mine = (await client.clientList()).find((one) => one.name === "nr-named");
    assert.equal(mine.db, 2);
    assert.equal((await named.clientInfo()).id, mine.id);
    named.destroy();
  });

  await check("SET with its options", async () => {
    assert.equal(await client.set("nr:key", "value", { expiration: { type: "EX", value: 10 }, condition: "NX" }), "OK");
    assert.equal(await client.set("nr:key", "x", { condition: "NX" }), null);
    assert.equal(await client.set("nr:key", "new", { expiration: "KEEPTTL", GET: true }), "value");
    const ttl = await client.pTTL("nr:key");
    assert.ok(ttl > 0 && ttl <= 10_000, `PTTL ${ttl}`);
    assert.equal(await client.getDel("nr:key"), "new");
  });

  await check("Buffers by type mapping, DUMP and RESTORE", async () => {
    const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    const bytes = Buffer.from([0, 13, 10, 255]);
    await client.set("nr:bytes", bytes);
    assert.deepEqual(await binary.get("nr:bytes"), bytes);
    await client.restore("nr:restored", 0, await binary.dump("nr:bytes"));
    assert.deepEqual(await binary.get("nr:restored"), bytes);
  });

  await check("Maps by type mapping", async () => {
    const mapped = client.withTypeMapping({ [RESP_TYPES.MAP]: Map });
    await client.hSet("nr:map", "f", "v");
    assert.deepEqual(await mapped.hGetAll("nr:map"), new Map([["f", "v"]]));
  });

  await check("sendCommand of any command", async () => {
    assert.equal(await client.sendCommand(["SET", "nr:raw", "value", "NX"]), "OK");
    await assert.rejects(client.sendCommand(["NOSUCH"]), /ERR unknown command/);
  });

  await check("auto-pipelining keeps the order of 3,000 commands", async () => {
    const replies = await Promise.all(Array.from({ length: 3000 }, () => client.incr("nr:counter")));
    assert.deepEqual([replies[0], replies.at(-1)], [1, 3000]);
  });

  await check("MULTI and EXEC", async () => {
    await client.set("nr:another", "other");
    assert.deepEqual(await client.multi().set("nr:t", "v").get("nr:another").exec(), ["OK", "other"]);
  });

  await check("MULTI: one command of it fails, the others run", async () => {
    const failed = await client.multi().set("nr:t", "v").hGet("nr:t", "f").incr("nr:n").exec().catch((e) => e);
    assert.match(failed.message, /1 commands failed/);
    assert.match(failed.replies[1].message, /WRONGTYPE/);
    assert.equal(failed.replies[2], 1);
  });

  await check("WATCH in a pool: a write of another client is a WatchError", async () => {
    const pool = await createClientPool({ url }).on("error", () => {}).connect();
    const failed = pool.execute(async (one) => {
      await one.watch("nr:watched");
      const multi = one.multi().set("nr:watched", "ours");
      await client.set("nr:watched", "theirs");
      return multi.exec();
    });
    await assert.rejects(failed, (error) => error instanceof WatchError);
    assert.equal(await client.get("nr:watched"), "theirs");
    pool.destroy();
  });

  await check("a pool with blocking commands", async () => {
    const pool = createClientPool({ url }, { minimum: 2, maximum: 5 }).on("error", () => {});
    await pool.connect();
    const popped = pool.blPop("nr:list", 0);
    await pool.lPush("nr:list", ["1"]);
    assert.deepEqual({ ...(await popped) }, { key: "nr:list", element: "1" });
    pool.destroy();
  });

  await check("pub/sub: subscribe, unsubscribe", async () => {
    const sub = await client.duplicate().connect();
    const heard = [];
    await sub.subscribe("nr:chan", (message, channel) => heard.push([message, channel]));
    assert.equal(await client.publish("nr:chan", "hi"), 1);
    await until(() => heard.length === 1);
    assert.deepEqual(heard, [["hi", "nr:chan"]]);
    await sub.unsubscribe("nr:chan");
    assert.equal(await client.publish("nr:chan", "hi"), 0);
    sub.destroy();
  });

  await check("pub/sub: patterns, and messages as Buffer", async () => {
    const sub = await client.duplicate().connect();
    const message = new Promise((resolve) => sub.pSubscribe("nr:ch*", (...args) => resolve(args), true));
    await until(async () => (await client.pubSubNumPat()) === 1);
    await client.publish("nr:channel", "hi");
    assert.deepEqual(await message, [Buffer.from("hi"), Buffer.from("nr:channel")]);
    sub.destroy();
  });

  await check("pub/sub: shard channels", async () => {
    const sub = await client.duplicate().connect();
    const heard = [];
    await sub.sSubscribe("nr:shard", (message) => heard.push(message));
    assert.equal(await client.sPublish("nr:shard", "hi"), 1);
    await until(() => heard.length === 1);
    assert.deepEqual({ ...(await client.pubSubShardNumSub(["nr:shard"])) }, { "nr:shard": 1 });
    sub.destroy();
  });

  await check("RESP3: a subscribed connection runs other commands", async () => {
    const sub = await client.duplicate().connect();
    await sub.subscribe("nr:both", () => {});
    assert.equal(await sub.echo("still"), "still");
    sub.destroy();
  });

  await check("scripts: defineScript, EVALSHA and its fall back", async () => {
    const scripted = await open({
      scripts: {
        add: defineScript({
          NUMBER_OF_KEYS: 1,
          SCRIPT: "return redis.call('GET', KEYS[1]) + ARGV[1];",
          FIRST_KEY_INDEX: 1,
          parseCommand(parser, key, toAdd) {
            parser.pushKey(key);
            parser.push(toAdd.toString());
          },
          transformReply: undefined,
        }),
      },
    });
    await scripted.set("nr:add", "1");
    assert.equal(await scripted.add("nr:add", 2), 3);
    await scripted.scriptFlush();
    assert.equal(await scripted.add("nr:add", 2), 3);
    scripted.destroy();
  });

  await check("functions: FUNCTION LOAD and FCALL", async () => {
    const code = `#!lua name=nrlibrary
      redis.register_function{function_name='add',
        callback=function(keys, args) return redis.call('GET', keys[1]) + args[1] end, flags={'no-writes'}}`;
    await client.functionLoad(code, { REPLACE: true });
    const calling = await open({
      functions: {
        nrlibrary: {
          add: {
            NUMBER_OF_KEYS: 1,
            parseCommand(parser, key, toAdd) {
              parser.pushKey(key);
              parser.push(toAdd.toString());
            },
            transformReply: undefined,
          },
        },
      },
    });
    await client.set("nr:f", "1");
    assert.equal(await calling.nrlibrary.add("nr:f", 2), 3);
    const [library] = await client.functionList();
    assert.equal(library.library_name, "nrlibrary");
    await client.functionDelete("nrlibrary");
    calling.destroy();
  });

  await check("scan iterators of keys, hashes, sets and sorted sets", async () => {
    await Promise.all(Array.from({ length: 200 }, (_, i) => client.set(`nr:scan:${i}`, "x")));
    await client.hSet("nr:h", Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`f${i}`, `${i}`])));
    await client.sAdd("nr:s", ["a", "b", "c"]);
    await client.zAdd("nr:z", [{ score: 1, value: "a" }, { score: 2, value: "b" }]);
    const collect = async (iterator) => {
      const all = [];
      for await (const part of iterator) all.push(...part);
      return all;
    };
    const keys = await collect(client.scanIterator({ TYPE: "string", MATCH: "nr:scan:*", COUNT: 50 }));
    assert.equal(new Set(keys).size, 200);
    assert.equal((await collect(client.hScanIterator("nr:h"))).length, 600);
    assert.deepEqual((await collect(client.sScanIterator("nr:s"))).sort(), ["a", "b", "c"]);
    assert.deepEqual(await collect(client.zScanIterator("nr:z")), [{ value: "a", score: 1 }, { value: "b", score: 2 }]);
  });

  await check("sorted sets: ranges and sums", async () => {
    await client.zAdd("nr:za", [{ score: 1, value: "a" }, { score: 2, value: "b" }, { score: 3, value: "c" }]);
    assert.deepEqual(await client.zRange("nr:za", "(1", "+inf", { BY: "SCORE" }), ["b", "c"]);
    assert.deepEqual(await client.zRangeWithScores("nr:za", 0, 0, { REV: true }), [{ value: "c", score: 3 }]);
    assert.equal(await client.zUnionStore("nr:zu", ["nr:za", "nr:z"]), 3);
    assert.equal(await client.zScore("nr:zu", "b"), 4);
    assert.deepEqual(await client.bzPopMin("nr:zu", 0), { key: "nr:zu", value: "a", score: 2 });
  });

  await check("streams: XADD, XRANGE, XREAD that blocks", async () => {
    const id = await client.xAdd("nr:stream", "*", { name: "John" }, { TRIM: { strategy: "MAXLEN", threshold: 10 } });
    const [first] = await client.xRange("nr:stream", "-", "+");
    assert.equal(first.id, id);
    assert.deepEqual({ ...first.message }, { name: "John" });
    const reader = await client.duplicate().connect();
    const waiting = reader.xRead({ key: "nr:stream", id: "$" }, { BLOCK: 0, COUNT: 1 });
    await until(async () => (await client.clientList()).some((one) => one.cmd === "xread"));
    const second = await client.xAdd("nr:stream", "*", { name: "Jane" });
    assert.equal((await waiting)[0].messages[0].id, second);
    reader.destroy();
  });

  await check("streams: a consumer group", async () => {
    await client.xGroupCreate("nr:jobs", "group", "0", { MKSTREAM: true });
    const id = await client.xAdd("nr:jobs", "*", { k: "v" });
    const read = await client.xReadGroup("group", "alice", { key: "nr:jobs", id: ">" }, { COUNT: 1 });
    assert.equal(read[0].messages[0].id, id);
    const claimed = await client.xAutoClaim("nr:jobs", "group", "bob", 0, "0-0");
    assert.equal(claimed.messages[0].id, id);
    assert.deepEqual((await client.xPending("nr:jobs", "group")).consumers, [{ name: "bob", deliveriesCounter: 1 }]);
    assert.equal(await client.xAck("nr:jobs", "group", id), 1);
    assert.equal((await client.xInfoGroups("nr:jobs"))[0].pending, 0);
    assert.equal((await client.xInfoStream("nr:jobs")).length, 1);
  });

  await check("geo: GEOADD and GEOSEARCH", async () => {
    await client.geoAdd("nr:geo", [
      { longitude: 13.361389, latitude: 38.115556, member: "Palermo" },
      { longitude: 15.087269, latitude: 37.502669, member: "Catania" },
    ]);
    assert.equal(await client.geoDist("nr:geo", "Palermo", "Catania", "km"), 166.2742);
    const near = await client.geoSearch("nr:geo", { longitude: 15, latitude: 37 }, { radius: 100, unit: "km" });
    assert.deepEqual(near, ["Catania"]);
  });

  await check("HyperLogLog and bits", async () => {
    await client.pfAdd("nr:hll", ["a", "b", "a"]);
    assert.equal(await client.pfCount("nr:hll"), 2);
    assert.deepEqual(await client.bitField("nr:bits", [
      { operation: "SET", encoding: "u8", offset: 0, value: 200 },
      { operation: "INCRBY", encoding: "u8", offset: 0, increment: 10 },
    ]), [0, 210]);
    assert.equal(await client.bitCount("nr:bits"), 4);
  });

  await check("clientSideCache: a second GET is a hit, another client's SET invalidates it", async () => {
    const cached = await open({ RESP: 3, clientSideCache: { ttl: 0, maxEntries: 0, evictPolicy: "LRU" } });
    await client.set("nr:cached", "1");
    assert.deepEqual([await cached.get("nr:cached"), await cached.get("nr:cached")], ["1", "1"]);
    await client.set("nr:cached", "2");
    await until(async () => (await cached.get("nr:cached")) === "2");
    cached.destroy();
  });

  await check("clientSideCache: FLUSHDB empties the cache", async () => {
    const other = await open({ database: 9 });
    const cached = await open({ RESP: 3, database: 9, clientSideCache: { ttl: 0, maxEntries: 10 } });
    await other.hSet("nr:cached", "f", "v");
    assert.equal(await cached.hGet("nr:cached", "f"), "v");
    await other.flushDb();
    await until(async () => (await cached.hGet("nr:cached", "f")) === null);
    other.destroy();
    cached.destroy();
  });

  await check("clientSideCache of a pool", async () => {
    const pool = createClientPool({ url, RESP: 3 }, { clientSideCache: { ttl: 0, maxEntries: 100 }, minimum: 2 });
    pool.on("error", () => {});
    await pool.connect();
    await client.set("nr:pooled", "1");
    assert.equal(await pool.get("nr:pooled"), "1");
    await client.set("nr:pooled", "2");
    await until(async () => (await pool.get("nr:pooled")) === "2");
    pool.destroy();
  });

  await check("reconnects after CLIENT KILL, and subscribes again", async () => {
    const sub = await open({ socket: { reconnectStrategy: 1 } });
    const heard = [];
    await sub.subscribe("nr:again", (message) => heard.push(message));
    const reconnecting = event(sub, "reconnecting");
    const id = (await client.clientList()).find((one) => one.sub === 1).id;
    await client.clientKill({ filter: "ID", id });
    await reconnecting;
    await until(async () => (await client.pubSubNumSub(["nr:again"]))["nr:again"] === 1);
    await client.publish("nr:again", "back");
    await until(() => heard.length === 1);
    sub.destroy();
  });

  await check("an abort signal ends a command that is not sent yet", async () => {
    const abort = new AbortController();
    const aborted = client.withAbortSignal(abort.signal).get("nr:key").catch((e) => e);
    abort.abort();
    assert.equal((await aborted).constructor.name, "AbortError");
    assert.equal(await client.ping(), "PONG");
  });

  await check("MONITOR", async () => {
    const monitoring = await client.duplicate().connect();
    const lines = [];
    await monitoring.monitor((line) => lines.push(line));
    await client.set("nr:seen", "x");
    await until(() => lines.some((line) => /"SET" "nr:seen" "x"/.test(line)));
    monitoring.destroy();
  });

  await check("ACL: a user, NOPERM", async () => {
    await client.aclSetUser("nr-user", ["on", ">secret", "~nr:acl:*", "+@all"]);
    const user = await open({ username: "nr-user", password: "secret" });
    assert.equal(await user.aclWhoAmI(), "nr-user");
    await assert.rejects(user.set("nr:other", "x"), /NOPERM/);
    assert.deepEqual((await client.aclGetUser("nr-user")).flags, ["on"]);
    user.destroy();
    assert.equal(await client.aclDelUser("nr-user"), 1);
  });

  await check("HSCAN, OBJECT, MEMORY and TYPE of a key", async () => {
    assert.equal(await client.type("nr:h"), "hash");
    assert.equal(await client.objectEncoding("nr:s"), "hashtable");
    assert.ok((await client.memoryUsage("nr:h")) > 0);
    assert.equal((await client.hScan("nr:map", "0")).entries[0].field, "f");
  });

  client.destroy();
}
