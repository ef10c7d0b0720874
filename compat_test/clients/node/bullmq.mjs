// Checks of BullMQ: queues and workers as its guide shows them, over ioredis and node-redis.

import { DelayedError, RateLimitError, UnrecoverableError, Worker } from "bullmq";
import { createClient } from "redis";
import { Bench } from "./bullmq-bench.mjs";
import { flows, upkeep, workers } from "./bullmq-more.mjs";
import { assert, client as suite, event, pause, until, url } from "./check.mjs";

export async function run() {
  const check = suite("bullmq");
  const checkWith = (about, body) => check(about, async () => {
    const bench = new Bench();
    try {
      await body(bench, bench.queue);
    } finally {
      await bench.close();
    }
  });
  await jobs(checkWith);
  await failures(checkWith);
  await times(checkWith);
  await flows(checkWith);
  await workers(checkWith);
  await upkeep(checkWith);
}

async function jobs(check) {
  await check("a worker processes a job, waitUntilFinished has its result", async (bench) => {
    bench.worker(async (job) => job.data.a + job.data.b);
    assert.equal(await bench.run("add", { a: 1, b: 2 }), 3);
  });

  await check("progress and logs", async (bench, queue) => {
    const worker = bench.worker(async (job) => {
      await job.updateProgress({ half: true });
      await job.log("a row");
    });
    const progress = event(worker, "progress");
    await bench.run("report", {});
    const [job, value] = await progress;
    assert.deepEqual(value, { half: true });
    assert.deepEqual(await queue.getJobLogs(job.id), { logs: ["a row"], count: 1 });
  });

  await check("addBulk, first in first out", async (bench, queue) => {
    const order = [];
    await queue.addBulk([1, 2, 3, 4, 5].map((i) => ({ name: "n", data: { i } })));
    bench.worker(async (job) => order.push(job.data.i));
    await until(() => order.length === 5);
    assert.deepEqual(order, [1, 2, 3, 4, 5]);
  });

  await check("lifo and priorities", async (bench, queue) => {
    const order = [];
    await queue.add("low", {}, { priority: 10 });
    await queue.add("high", {}, { priority: 1 });
    await queue.add("first", {});
    await queue.add("last in", {}, { lifo: true });
    assert.deepEqual(await queue.getCountsPerPriority([1, 10]), { 1: 1, 10: 1 });
    bench.worker(async (job) => order.push(job.name));
    await until(() => order.length === 4);
    assert.deepEqual(order, ["last in", "first", "high", "low"]);
  });

  await check("a job id is used once", async (bench, queue) => {
    await queue.add("one", { a: 1 }, { jobId: "custom" });
    await queue.add("one", { a: 2 }, { jobId: "custom" });
    assert.equal(await queue.getWaitingCount(), 1);
    assert.deepEqual((await queue.getJob("custom")).data, { a: 1 });
  });

  await check("deduplication", async (bench, queue) => {
    const deduplication = { id: "same", ttl: 60_000 };
    const first = await queue.add("house", { color: "white" }, { deduplication });
    const second = await queue.add("house", { color: "black" }, { deduplication });
    assert.equal(second.id, first.id);
    assert.equal(await queue.count(), 1);
    assert.equal(await queue.getDeduplicationJobId("same"), first.id);
  });

  await check("QueueEvents: waiting, active, completed", async (bench, queue) => {
    const events = await bench.events();
    const seen = [];
    for (const name of ["added", "waiting", "active", "completed"]) events.on(name, () => seen.push(name));
    await queue.add("job", {});
    bench.worker(async () => {});
    await until(() => seen.includes("completed"));
    assert.deepEqual(seen, ["added", "waiting", "active", "completed"]);
  });

  await check("a large job with characters of all kinds", async (bench) => {
    const text = "ü€😀\u0000\n".repeat(20_000);
    bench.worker(async (job) => job.data.text);
    assert.equal(await bench.run("echo", { text }), text);
  });

  await check("over node-redis", async (bench) => {
    const raw = await createClient({ url }).on("error", () => {}).connect();
    const worker = new Worker(bench.name, async (job) => job.data.n * 2, { connection: raw, drainDelay: 0.2 });
    worker.on("error", () => {});
    assert.equal(await bench.run("double", { n: 21 }), 42);
    await worker.close(true);
    raw.destroy();
  });
}

async function failures(check) {
  await check("a failed job has its reason and stack", async (bench, queue) => {
    const worker = bench.worker(async () => { throw new Error("boom"); });
    const failed = event(worker, "failed");
    await assert.rejects(bench.run("fail", {}), /boom/);
    const [job] = await failed;
    const stored = await queue.getJob(job.id);
    assert.equal(stored.failedReason, "boom");
    assert.equal(await stored.getState(), "failed");
    assert.equal(stored.stacktrace.length, 1);
  });

  await check("retries: attempts with a fixed backoff", async (bench) => {
    const times = [];
    bench.worker(async (job) => {
      times.push(Date.now());
      if (job.attemptsMade < 2) throw new Error("again");
      return "third";
    });
    assert.equal(await bench.run("retry", {}, { attempts: 3, backoff: { type: "fixed", delay: 50 } }), "third");
    assert.ok(times[1] - times[0] >= 45, `${times[1] - times[0]} ms`);
  });

  await check("retries: a backoff strategy of one's own", async (bench) => {
    const asked = [];
    const backoffStrategy = (attempts) => asked.push(attempts) && attempts;
    bench.worker(async () => { throw new Error("no"); }, { settings: { backoffStrategy } });
    await assert.rejects(bench.run("retry", {}, { attempts: 3, backoff: { type: "own" } }), /no/);
    assert.deepEqual(asked, [1, 2]);
  });

  await check("UnrecoverableError ends the attempts", async (bench) => {
    let runs = 0;
    bench.worker(async () => {
      runs++;
      throw new UnrecoverableError("never");
    });
    await assert.rejects(bench.run("fatal", {}, { attempts: 5 }), /never/);
    assert.equal(runs, 1);
  });

  await check("a failed job is retried by hand, and all of them", async (bench, queue) => {
    let healthy = false;
    bench.worker(async () => {
      if (!healthy) throw new Error("ill");
      return "well";
    });
    const failing = await Promise.all([1, 2, 3].map(() => queue.add("job", {})));
    await until(async () => (await queue.getFailedCount()) === 3);
    healthy = true;
    await (await queue.getJob(failing[0].id)).retry();
    await until(async () => (await queue.getCompletedCount()) === 1);
    await queue.retryJobs();
    await until(async () => (await queue.getCompletedCount()) === 3);
  });

  await check("stalled: a job whose worker lost its lock runs again elsewhere", async (bench, queue) => {
    const lost = { lockDuration: 50, skipLockRenewal: true, skipStalledCheck: true };
    const first = bench.worker(() => pause(5000, undefined, { ref: false }), lost);
    const active = event(first, "active");
    const job = await queue.add("job", {});
    await active;
    const second = bench.worker(async () => "rescued", { stalledInterval: 60 });
    const stalled = event(second, "stalled");
    assert.equal((await stalled)[0], job.id);
    await until(async () => (await queue.getCompletedCount()) === 1);
    assert.equal((await queue.getJob(job.id)).returnvalue, "rescued");
  });

  await check("stalled more often than maxStalledCount: the job fails", async (bench, queue) => {
    const lost = { lockDuration: 50, skipLockRenewal: true, skipStalledCheck: true };
    const first = bench.worker(() => pause(5000, undefined, { ref: false }), lost);
    const active = event(first, "active");
    const job = await queue.add("job", {});
    await active;
    bench.worker(async () => {}, { stalledInterval: 60, maxStalledCount: 0 });
    await until(async () => (await queue.getFailedCount()) === 1);
    assert.match((await queue.getJob(job.id)).failedReason, /stalled more than allowable limit/);
  });
}

async function times(check) {
  await check("a delayed job waits for its time", async (bench) => {
    bench.worker(async (job) => Date.now() - job.timestamp);
    const waited = await bench.run("later", {}, { delay: 120 });
    assert.ok(waited >= 110, `${waited} ms`);
  });

  await check("promote and changeDelay of a delayed job", async (bench, queue) => {
    const job = await queue.add("later", {}, { delay: 60_000 });
    const other = await queue.add("later", {}, { delay: 60_000 });
    assert.equal(await queue.getDelayedCount(), 2);
    bench.worker(async () => {});
    await job.promote();
    await other.changeDelay(20);
    await until(async () => (await queue.getCompletedCount()) === 2);
  });

  await check("a job moves itself to delayed", async (bench) => {
    bench.worker(async (job, token) => {
      if (job.data.step) return job.data.step;
      await job.updateData({ step: "second" });
      await job.moveToDelayed(Date.now() + 30, token);
      throw new DelayedError();
    });
    assert.equal(await bench.run("steps", {}), "second");
  });

  await check("a job scheduler repeats with an interval and a limit", async (bench, queue) => {
    const counts = [];
    bench.worker(async (job) => counts.push(job.data.foo));
    await queue.upsertJobScheduler("every", { every: 60, limit: 3 }, { name: "tick", data: { foo: "bar" } });
    await until(() => counts.length === 3);
    await until(async () => (await queue.getDelayedCount()) === 0);
    assert.deepEqual(counts, ["bar", "bar", "bar"]);
  });

  await check("a job scheduler with a cron pattern: stored, listed, changed, removed", async (bench, queue) => {
    await queue.upsertJobScheduler("nightly", { pattern: "0 0 3 * * *", tz: "UTC" }, { name: "night" });
    const [scheduler] = await queue.getJobSchedulers();
    assert.equal(scheduler.pattern, "0 0 3 * * *");
    assert.equal(new Date(scheduler.next).getUTCHours(), 3);
    await queue.upsertJobScheduler("nightly", { pattern: "0 0 4 * * *", tz: "UTC" }, { name: "night" });
    assert.equal(await queue.getJobSchedulersCount(), 1);
    assert.equal(await queue.getDelayedCount(), 1);
    assert.equal(await queue.removeJobScheduler("nightly"), true);
    assert.equal(await queue.getDelayedCount(), 0);
  });

  await check("a worker's rate limit", async (bench, queue) => {
    const times = [];
    bench.worker(async () => times.push(Date.now()), { limiter: { max: 2, duration: 150 } });
    await queue.addBulk([1, 2, 3, 4].map(() => ({ name: "n", data: {} })));
    await until(() => times.length === 4);
    assert.ok(times[2] - times[0] >= 120, `${times[2] - times[0]} ms`);
  });

  await check("a worker limits the rate by hand", async (bench, queue) => {
    let runs = 0;
    bench.worker(async () => {
      if (++runs === 1) {
        await queue.rateLimit(60);
        throw new RateLimitError();
      }
      return runs;
    });
    assert.equal(await bench.run("limited", {}), 2);
  });
}
