// More checks of BullMQ: flows, workers and the upkeep of queues.

import { FlowProducer } from "bullmq";
import { Redis } from "ioredis";
import { connection } from "./bullmq-bench.mjs";
import { assert, pause, port, until } from "./check.mjs";

export async function flows(check) {
  const flow = (bench, tree) => {
    const producer = bench.keep(new FlowProducer({ connection }));
    return producer.add({ queueName: bench.name, ...tree });
  };

  await check("a flow: the parent waits for its children and has their values", async (bench, queue) => {
    bench.worker(async (job) => {
      if (job.name !== "parent") return job.data.n;
      const values = Object.values(await job.getChildrenValues());
      return values.reduce((a, b) => a + b, 0);
    });
    const children = [1, 2, 3].map((n) => ({ name: "child", queueName: bench.name, data: { n } }));
    const { job } = await flow(bench, { name: "parent", children });
    await until(async () => (await job.getState()) === "completed");
    assert.equal((await queue.getJob(job.id)).returnvalue, 6);
  });

  await check("a flow of three levels, and its tree", async (bench) => {
    const leaf = { name: "leaf", queueName: bench.name };
    const { job } = await flow(bench, {
      name: "root", children: [{ name: "middle", queueName: bench.name, children: [leaf, leaf] }],
    });
    const tree = await bench.keep(new FlowProducer({ connection })).getFlow({ id: job.id, queueName: bench.name });
    assert.equal(tree.children[0].children.length, 2);
    assert.equal(await job.getState(), "waiting-children");
    bench.worker(async () => {});
    await until(async () => (await job.getState()) === "completed");
  });

  await check("a flow: failParentOnFailure", async (bench, queue) => {
    bench.worker(async () => { throw new Error("child"); });
    const opts = { failParentOnFailure: true };
    const { job } = await flow(bench, { name: "parent", children: [{ name: "c", queueName: bench.name, opts }] });
    await until(async () => (await queue.getJob(job.id))?.failedReason !== undefined);
    assert.match((await queue.getJob(job.id)).failedReason, /^child .* failed$/);
  });

  await check("a flow: removing the parent removes the children", async (bench, queue) => {
    const { job } = await flow(bench, { name: "parent", children: [{ name: "child", queueName: bench.name }] });
    assert.equal(await queue.count(), 2);
    await job.remove();
    assert.equal(await queue.count(), 0);
  });
}

export async function workers(check) {
  await check("concurrency: jobs of one worker at once", async (bench, queue) => {
    let now = 0, most = 0;
    bench.worker(async () => {
      most = Math.max(most, ++now);
      await pause(30);
      now--;
    }, { concurrency: 4 });
    await queue.addBulk(Array.from({ length: 8 }, () => ({ name: "n", data: {} })));
    await until(async () => (await queue.getCompletedCount()) === 8);
    assert.equal(most, 4);
  });

  await check("global concurrency of two workers", async (bench, queue) => {
    let now = 0, most = 0;
    const processor = async () => {
      most = Math.max(most, ++now);
      await pause(10);
      now--;
    };
    await queue.setGlobalConcurrency(1);
    bench.worker(processor);
    bench.worker(processor);
    await queue.addBulk(Array.from({ length: 6 }, () => ({ name: "n", data: {} })));
    await until(async () => (await queue.getCompletedCount()) === 6);
    assert.equal(most, 1);
  });

  await check("200 jobs by three workers, each once", async (bench, queue) => {
    const seen = [];
    for (let i = 0; i < 3; i++) bench.worker(async (job) => seen.push(job.id), { concurrency: 5 });
    const added = await queue.addBulk(Array.from({ length: 200 }, (_, i) => ({ name: "n", data: { i } })));
    await until(async () => (await queue.getCompletedCount()) === 200);
    assert.deepEqual(seen.sort(), added.map((job) => job.id).sort());
  });

  await check("a queue is paused and resumed", async (bench, queue) => {
    let runs = 0;
    bench.worker(async () => runs++);
    await queue.pause();
    await queue.add("job", {});
    assert.equal(await queue.isPaused(), true);
    await pause(30);
    assert.equal(runs, 0);
    await queue.resume();
    await until(() => runs === 1);
  });

  await check("a worker without a processor: getNextJob, extendLock, moveToCompleted", async (bench, queue) => {
    const worker = bench.worker(undefined);
    await queue.add("manual", { n: 1 });
    const job = await worker.getNextJob("token");
    assert.deepEqual(job.data, { n: 1 });
    assert.equal(await job.extendLock("token", 10_000), 1);
    await assert.rejects(job.moveToCompleted("x", "wrong token", false), /Missing lock|is not owned|Lock mismatch/);
    await job.moveToCompleted("done", "token", false);
    assert.equal(await job.getState(), "completed");
  });

  await check("getWorkers names the workers by CLIENT LIST", async (bench, queue) => {
    const worker = bench.worker(async () => {}, { name: "mine" });
    await worker.waitUntilReady();
    await until(async () => (await queue.getWorkersCount()) === 1);
    assert.match((await queue.getWorkers())[0].rawname, /:w:mine$/);
  });
}

export async function upkeep(check) {
  await check("counts and lists of jobs by state", async (bench, queue) => {
    await queue.add("a", {});
    await queue.add("b", {}, { delay: 60_000 });
    await queue.add("c", {}, { priority: 5 });
    const counts = await queue.getJobCounts("waiting", "delayed", "prioritized", "failed");
    assert.deepEqual({ ...counts }, { waiting: 1, delayed: 1, prioritized: 1, failed: 0 });
    const listed = await queue.getJobs(["waiting", "delayed", "prioritized"]);
    assert.deepEqual(listed.map((job) => job.name).sort(), ["a", "b", "c"]);
  });

  await check("removeOnComplete keeps a number of jobs", async (bench, queue) => {
    let runs = 0;
    bench.worker(async () => runs++, { removeOnComplete: { count: 2 } });
    await queue.addBulk(Array.from({ length: 6 }, () => ({ name: "n", data: {} })));
    await until(() => runs === 6);
    await until(async () => (await queue.getCompletedCount()) === 2 && (await queue.getActiveCount()) === 0);
  });

  await check("remove, drain and clean", async (bench, queue) => {
    const job = await queue.add("a", {});
    assert.equal(await queue.remove(job.id), 1);
    await queue.addBulk(Array.from({ length: 10 }, () => ({ name: "n", data: {} })));
    assert.equal((await queue.clean(0, 4, "wait")).length, 4);
    await queue.drain();
    assert.equal(await queue.count(), 0);
  });

  await check("obliterate deletes every key of the queue", async (bench, queue) => {
    await queue.addBulk(Array.from({ length: 50 }, () => ({ name: "n", data: {} })));
    await queue.obliterate({ force: true });
    const redis = new Redis(port);
    assert.deepEqual(await redis.keys(`bull:${bench.name}:*`), []);
    redis.disconnect();
  });

  await check("trimEvents and the stream of events", async (bench, queue) => {
    await queue.addBulk(Array.from({ length: 30 }, () => ({ name: "n", data: {} })));
    const redis = new Redis(port);
    const stream = `bull:${bench.name}:events`;
    assert.ok((await redis.xlen(stream)) >= 30);
    assert.ok((await queue.trimEvents(0)) >= 30);
    assert.equal(await redis.xlen(stream), 0);
    redis.disconnect();
  });

  await check("metrics of a worker", async (bench, queue) => {
    bench.worker(async () => {}, { metrics: { maxDataPoints: 60 } });
    await bench.run("job", {});
    assert.equal((await queue.getMetrics("completed")).meta.count, 1);
  });
}
