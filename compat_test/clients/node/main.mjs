// node main.mjs PORT [CLIENT...] runs the checks of all clients, or of those that are named.

const suites = ["ioredis", "node-redis", "bullmq", "redlock", "connect-redis", "socket.io"];

// A check's end disconnects clients whose commands still wait.
const ended = /Disconnects client|Connection is closed/;
process.on("unhandledRejection", (reason) => {
  if (!ended.test(reason?.message)) console.error("unhandled rejection:", reason);
});
process.on("uncaughtException", (error) => console.error("uncaught exception:", error));

let status = 0;

const named = process.argv.slice(3);
for (const name of named.length > 0 ? named : suites) {
  try {
    const { run } = await import(`./${name}.mjs`);
    await run();
  } catch (error) {
    console.error(`${name}:`, error);
    status = 1;
  }
}
process.exit(status);
