// Checks of redlock: what its README shows, over ioredis as it asks for.

import { Redis } from "ioredis";
import Redlock, { ExecutionError, ResourceLockedError } from "redlock";
import { assert, client, pause, port, until } from "./check.mjs";

const settings = { retryCount: 0, retryDelay: 5, retryJitter: 2, automaticExtensionThreshold: 100 };

export async function run() {
  const check = client("redlock");
  const redis = new Redis(port);
  const redlock = new Redlock([redis], settings);
  const patient = new Redlock([redis], { ...settings, retryCount: -1 });

  await check("acquires a lock: its key has a value and a time to live", async () => {
    const lock = await redlock.acquire(["rl:a"], 5000);
    assert.equal(await redis.get("rl:a"), lock.value);
    const ttl = await redis.pttl("rl:a");
    assert.ok(ttl > 0 && ttl <= 5000, `PTTL ${ttl}`);
    await lock.release();
  });

  await check("release deletes the key", async () => {
    const lock = await redlock.acquire(["rl:a"], 5000);
    await lock.release();
    assert.equal(await redis.exists("rl:a"), 0);
  });

  await check("a second acquire fails with an ExecutionError", async () => {
    const lock = await redlock.acquire(["rl:a"], 5000);
    await assert.rejects(redlock.acquire(["rl:a"], 5000), (error) => error instanceof ExecutionError);
    await lock.release();
  });

  await check("the error event says which resource is locked", async () => {
    const noisy = new Redlock([redis], settings);
    const errors = [];
    noisy.on("error", (error) => errors.push(error));
    const lock = await noisy.acquire(["rl:a"], 5000);
    await noisy.acquire(["rl:a"], 5000).catch(() => {});
    assert.ok(errors[0] instanceof ResourceLockedError);
    await lock.release();
  });

  await check("a waiter acquires after the release", async () => {
    const lock = await redlock.acquire(["rl:a"], 5000);
    const waiting = patient.acquire(["rl:a"], 5000);
    await pause(10);
    await lock.release();
    await (await waiting).release();
  });

  await check("a waiter acquires after the lock expires", async () => {
    await redlock.acquire(["rl:short"], 40);
    const lock = await patient.acquire(["rl:short"], 5000);
    assert.equal(await redis.get("rl:short"), lock.value);
    await lock.release();
  });

  await check("extend prolongs the lock with the same value", async () => {
    const lock = await redlock.acquire(["rl:a"], 200);
    const extended = await lock.extend(60_000);
    assert.equal(extended.value, lock.value);
    assert.ok((await redis.pttl("rl:a")) > 30_000);
    await extended.release();
  });

  await check("extend fails after the lock expired", async () => {
    const lock = await redlock.acquire(["rl:gone"], 30);
    await until(async () => (await redis.exists("rl:gone")) === 0);
    await assert.rejects(lock.extend(5000));
  });

  await check("extend fails when another client holds the lock", async () => {
    const lock = await redlock.acquire(["rl:a"], 5000);
    await redis.set("rl:a", "another");
    await assert.rejects(lock.extend(5000), (error) => error instanceof ExecutionError);
    await redis.del("rl:a");
  });

  await check("release of a lock that another client holds changes nothing", async () => {
    const lock = await redlock.acquire(["rl:a"], 5000);
    await redis.set("rl:a", "another");
    await assert.rejects(lock.release(), (error) => error instanceof ExecutionError);
    assert.equal(await redis.get("rl:a"), "another");
    await redis.del("rl:a");
  });

  await check("several resources: all or none", async () => {
    const lock = await redlock.acquire(["rl:b", "rl:c"], 5000);
    await assert.rejects(redlock.acquire(["rl:c", "rl:d"], 5000), ExecutionError);
    assert.equal(await redis.exists("rl:d"), 0);
    await lock.release();
    assert.equal(await redis.exists("rl:b", "rl:c"), 0);
  });

  await check("using runs a routine and releases", async () => {
    const result = await redlock.using(["rl:u1", "rl:u2"], 5000, async (signal) => {
      assert.equal(signal.aborted, false);
      assert.equal(await redis.exists("rl:u1", "rl:u2"), 2);
      return "done";
    });
    assert.equal(result, "done");
    assert.equal(await redis.exists("rl:u1", "rl:u2"), 0);
  });

  await check("using extends the lock while the routine runs", async () => {
    await redlock.using(["rl:long"], 600, { automaticExtensionThreshold: 500 }, async (signal) => {
      const first = await redis.call("PEXPIRETIME", "rl:long");
      await until(async () => (await redis.call("PEXPIRETIME", "rl:long")) > first);
      assert.equal(signal.aborted, false);
    });
  });

  await check("using aborts its signal when the extension fails", async () => {
    const options = { automaticExtensionThreshold: 500 };
    const failed = redlock.using(["rl:lost"], 600, options, async (signal) => {
      await redis.set("rl:lost", "another");
      await until(() => signal.aborted);
      throw signal.error;
    });
    await assert.rejects(failed, ExecutionError);
    await redis.del("rl:lost");
  });

  await check("using releases when the routine throws", async () => {
    const failed = redlock.using(["rl:throw"], 5000, async () => {
      throw new Error("mine");
    });
    await assert.rejects(failed, /mine/);
    assert.equal(await redis.exists("rl:throw"), 0);
  });

  await check("mutual exclusion: 20 routines, a counter without INCR", async () => {
    await redis.set("rl:counter", 0);
    await Promise.all(Array.from({ length: 20 }, () => patient.using(["rl:mutex"], 10_000, async () => {
      const value = Number(await redis.get("rl:counter"));
      await redis.set("rl:counter", value + 1);
    })));
    assert.equal(await redis.get("rl:counter"), "20");
  });

  await check("the scripts survive SCRIPT FLUSH", async () => {
    await redis.script("FLUSH");
    const lock = await redlock.acquire(["rl:a"], 5000);
    await redis.script("FLUSH");
    await lock.release();
  });

  await check("attempts have the statistics of each client", async () => {
    const lock = await redlock.acquire(["rl:a"], 5000);
    const stats = await lock.attempts[0];
    assert.deepEqual([stats.membershipSize, stats.quorumSize, stats.votesFor.size], [1, 1, 1]);
    await lock.release();
  });

  await redis.quit();
}
