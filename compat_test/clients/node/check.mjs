// Checks and how they are printed. See ../README.md for the form of a line.

import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

export { strict as assert } from "node:assert";
export { pause };

/** port is that of the server under test, on 127.0.0.1. */
export const port = Number(process.argv[2]);
export const url = `redis://127.0.0.1:${port}`;

/** limit ends a check that waits for a reply that never comes, in milliseconds. */
const limit = 20_000;

/** version reads the version of an installed package. */
function version(name) {
  const text = readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url));
  return JSON.parse(text).version.replace(/^v/, "");
}

const oneLine = (text) => String(text).replace(/\s+/g, " ").trim();

/** client returns the function that runs a check of a package and prints its line. */
export function client(name) {
  const pinned = version(name);
  return async function check(about, body) {
    const line = [name, pinned, "ok", about];
    const timer = new AbortController();
    const late = pause(limit, undefined, { signal: timer.signal }).then(() => {
      throw new Error(`not done within ${limit} ms`);
    });
    late.catch(() => {}); // the timer was stopped
    try {
      await Promise.race([body(), late]);
    } catch (error) {
      line[2] = "FAIL";
      line.push(oneLine(error?.message ?? error));
      if (process.env.LOCKREDIS_CLIENTS_DEBUG) console.error(error);
    } finally {
      timer.abort();
    }
    console.log(line.join("\t"));
  };
}

/** until waits for a condition. The limit of its check ends a wait that is in vain. */
export async function until(condition) {
  for (;;) {
    const value = await condition();
    if (value) return value;
    await pause(5);
  }
}

/** event resolves with the arguments of an emitter's next event of a name. */
export function event(emitter, name) {
  return new Promise((resolve) => emitter.once(name, (...args) => resolve(args)));
}
