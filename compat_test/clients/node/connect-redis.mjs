// Checks of connect-redis: the store by itself, and in express with express-session.

import { RedisStore } from "connect-redis";
import express from "express";
import session from "express-session";
import { once } from "node:events";
import { createClient } from "redis";
import { assert, client as suite, until, url } from "./check.mjs";

const alive = { cookie: { originalMaxAge: 60_000 } };

export async function run() {
  const check = suite("connect-redis");
  const client = await createClient({ url }).on("error", () => {}).connect();
  const store = new RedisStore({ client, prefix: "cr:", ttl: 100 });
  const web = await serve(new RedisStore({ client, prefix: "crweb:" }));

  await check("set and get of a session", async () => {
    await store.set("one", { ...alive, user: "tj", nested: { a: [1, "ü"] } });
    assert.deepEqual(await store.get("one"), { ...alive, user: "tj", nested: { a: [1, "ü"] } });
  });

  await check("get of a session that does not exist", async () => {
    assert.equal((await store.get("none")) ?? null, null);
  });

  await check("the session's key has the prefix and the ttl", async () => {
    const ttl = await client.ttl("cr:one");
    assert.ok(ttl > 0 && ttl <= 100, `TTL ${ttl}`);
  });

  await check("a cookie's expiry is the key's", async () => {
    await store.set("expires", { cookie: { expires: new Date(Date.now() + 20_000) } });
    const ttl = await client.ttl("cr:expires");
    assert.ok(ttl > 0 && ttl <= 21, `TTL ${ttl}`);
  });

  await check("a session whose cookie has expired is deleted", async () => {
    await store.set("past", alive);
    await store.set("past", { cookie: { expires: new Date(Date.now() - 1000) } });
    assert.equal(await client.exists("cr:past"), 0);
  });

  await check("ttl as a function", async () => {
    const own = new RedisStore({ client, prefix: "cr2:", ttl: (one) => one.seconds });
    await own.set("one", { ...alive, seconds: 500 });
    assert.ok((await client.ttl("cr2:one")) > 400);
  });

  await check("touch prolongs", async () => {
    await client.expire("cr:one", 5);
    await store.touch("one", { cookie: {} });
    assert.ok((await client.ttl("cr:one")) > 50);
  });

  await check("disableTouch leaves the time to live", async () => {
    const untouched = new RedisStore({ client, prefix: "cr:", disableTouch: true });
    await client.expire("cr:one", 50);
    await untouched.touch("one", alive);
    assert.ok((await client.ttl("cr:one")) <= 50);
  });

  await check("disableTTL: the key has none", async () => {
    const forever = new RedisStore({ client, prefix: "cr3:", disableTTL: true });
    await forever.set("one", alive);
    assert.equal(await client.ttl("cr3:one"), -1);
  });

  await check("all, ids and length with many sessions", async () => {
    const many = new RedisStore({ client, prefix: "cr4:", scanCount: 20 });
    await Promise.all(Array.from({ length: 150 }, (_, i) => many.set(`s${i}`, { ...alive, i })));
    assert.equal(await many.length(), 150);
    assert.equal(new Set(await many.ids()).size, 150);
    const all = await many.all();
    assert.deepEqual(all.map((one) => one.i).sort((a, b) => a - b), Array.from({ length: 150 }, (_, i) => i));
  });

  await check("clear deletes the store's sessions only", async () => {
    const many = new RedisStore({ client, prefix: "cr4:" });
    await many.clear();
    assert.equal(await many.length(), 0);
    assert.equal(await client.exists("cr:one"), 1);
  });

  await check("destroy", async () => {
    await store.destroy("one");
    assert.equal((await store.get("one")) ?? null, null);
  });

  await check("a serializer of one's own", async () => {
    const serializer = {
      stringify: (value) => Buffer.from(JSON.stringify(value)).toString("base64"),
      parse: (text) => JSON.parse(Buffer.from(text, "base64").toString()),
    };
    const own = new RedisStore({ client, prefix: "cr5:", serializer });
    await own.set("one", alive);
    assert.deepEqual(await own.get("one"), alive);
    assert.doesNotMatch(await client.get("cr5:one"), /cookie/);
  });

  await check("callbacks", async () => {
    await new Promise((resolve, reject) => store.set("cb", alive, (e) => (e ? reject(e) : resolve())));
    const got = await new Promise((resolve, reject) => store.get("cb", (e, value) => (e ? reject(e) : resolve(value))));
    assert.deepEqual(got, alive);
  });

  await check("express: a session is kept between requests", async () => {
    const visitor = web.visitor();
    assert.equal(await visitor("/count"), "1");
    assert.equal(await visitor("/count"), "2");
    assert.equal(await web.visitor()("/count"), "1");
  });

  await check("express: regenerate gives another key, the old one is deleted", async () => {
    const visitor = web.visitor();
    const before = await visitor("/id");
    const after = await visitor("/regenerate");
    assert.notEqual(before, after);
    assert.deepEqual([await client.exists(`crweb:${before}`), await client.exists(`crweb:${after}`)], [0, 1]);
  });

  await check("express: destroy logs out", async () => {
    const visitor = web.visitor();
    const id = await visitor("/id");
    assert.equal(await client.exists(`crweb:${id}`), 1);
    await visitor("/destroy");
    assert.equal(await client.exists(`crweb:${id}`), 0);
    assert.equal(await visitor("/count"), "1");
  });

  await check("express: an expired session starts anew", async () => {
    const visitor = web.visitor();
    const id = await visitor("/id");
    await client.pExpire(`crweb:${id}`, 1);
    await until(async () => (await client.exists(`crweb:${id}`)) === 0);
    assert.equal(await visitor("/count"), "1");
  });

  web.close();
  client.destroy();
}

/** serve starts an application with sessions. Each visitor keeps a cookie. */
async function serve(store) {
  const app = express();
  app.use(session({ store, resave: false, saveUninitialized: true, secret: "keyboard cat" }));
  app.get("/count", (req, res) => {
    req.session.count = (req.session.count ?? 0) + 1;
    res.send(String(req.session.count));
  });
  app.get("/id", (req, res) => res.send(req.sessionID));
  app.get("/regenerate", (req, res) => req.session.regenerate(() => res.send(req.sessionID)));
  app.get("/destroy", (req, res) => req.session.destroy(() => res.send("out")));
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const visitor = () => {
    let cookie = "";
    return async (path) => {
      const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`, { headers: { cookie } });
      const set = response.headers.get("set-cookie");
      if (set) cookie = set.split(";")[0];
      return response.text();
    };
  };
  return { visitor, close: () => server.closeAllConnections() || server.close() };
}
