// What a check of BullMQ opens, and closes after it.

import { Queue, QueueEvents, Worker } from "bullmq";
import { port } from "./check.mjs";

export const connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };

/** Bench opens queues, workers and event listeners of one check and closes them after it. */
export class Bench {
  #open = [];
  static #count = 0;
  constructor() {
    this.name = `bq${++Bench.#count}`;
    this.queue = this.keep(new Queue(this.name, { connection }));
  }
  keep(one) {
    one.on?.("error", () => {});
    this.#open.unshift(one);
    return one;
  }
  worker(processor, options = {}) {
    return this.keep(new Worker(this.name, processor, { connection, drainDelay: 0.2, ...options }));
  }
  async events() {
    const events = this.keep(new QueueEvents(this.name, { connection, lastEventId: "0" }));
    await events.waitUntilReady();
    return events;
  }
  /** run adds a job and waits for its end: the result, or the error of the last attempt. */
  async run(name, data, options) {
    const events = await this.events();
    const job = await this.queue.add(name, data, options);
    return job.waitUntilFinished(events, 10_000);
  }
  async close() {
    for (const one of this.#open) await one.close(true);
  }
}
