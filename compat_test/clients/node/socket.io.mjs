// Checks of Socket.IO's adapters: two servers of one cluster, as its documentation shows.

import { createAdapter, createShardedAdapter } from "@socket.io/redis-adapter";
import { createAdapter as createStreamsAdapter } from "@socket.io/redis-streams-adapter";
import { once } from "node:events";
import { createServer } from "node:http";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { Server } from "socket.io";
import { io as connectTo } from "socket.io-client";
import { assert, client as suite, event, pause, port, until, url } from "./check.mjs";

/** nodeRedis returns two connected clients of node-redis. */
async function nodeRedis() {
  const pub = createClient({ url }).on("error", () => {});
  const sub = pub.duplicate().on("error", () => {});
  await Promise.all([pub.connect(), sub.connect()]);
  return [pub, sub];
}

async function ioredis() {
  const pub = new Redis(port);
  return [pub, pub.duplicate()];
}

export async function run() {
  const adapter = suite("@socket.io/redis-adapter");
  await checkCluster(adapter, "pub/sub", nodeRedis, (pub, sub) => createAdapter(pub, sub, { key: "sio1" }));
  await checkCluster(adapter, "ioredis", ioredis, (pub, sub) => createAdapter(pub, sub, { key: "sio2" }));
  await checkCluster(adapter, "sharded", nodeRedis,
    (pub, sub) => createShardedAdapter(pub, sub, { channelPrefix: "sio3" }));
  const streams = suite("@socket.io/redis-streams-adapter");
  const named = (streamName) => ({ streamName, channelPrefix: streamName, blockTimeInMs: 200 });
  await checkCluster(streams, "node-redis", nodeRedis, (pub) => createStreamsAdapter(pub, named("sio4")));
  await checkCluster(streams, "ioredis", ioredis, (pub) => createStreamsAdapter(pub, named("sio5")));
  await checkRecovery(streams, (pub) => createStreamsAdapter(pub, named("sio6")));
}

/** Cluster is two servers. Client 0 is at the first server, clients 1 and 2 at the second. */
class Cluster {
  #servers = [];
  #redis = [];
  clients = [];
  sockets = [];

  static async start(connect, adapter, options = {}) {
    const cluster = new Cluster();
    for (let i = 0; i < 2; i++) {
      const redis = await connect();
      const http = createServer().listen(0, "127.0.0.1");
      await once(http, "listening");
      const io = new Server(http, { adapter: adapter(...redis), ...options });
      cluster.#redis.push(...redis);
      cluster.#servers.push({ io, http });
    }
    for (const at of [0, 1, 1]) await cluster.join(at);
    // Each server knows the other one: a request reaches both.
    await until(async () => {
      const all = await cluster.io(0).fetchSockets().catch(() => []);
      const others = await cluster.io(1).fetchSockets().catch(() => []);
      return all.length === 3 && others.length === 3;
    });
    return cluster;
  }

  io(i) {
    return this.#servers[i].io;
  }

  address(i) {
    return `http://127.0.0.1:${this.#servers[i].http.address().port}`;
  }

  /** join connects a client to a server. */
  async join(at) {
    const connection = event(this.io(at), "connection");
    const one = connectTo(this.address(at), { transports: ["websocket"], forceNew: true });
    this.clients.push(one);
    const [socket] = await connection;
    this.sockets.push(socket);
    if (!one.connected) await event(one, "connect");
  }

  /** rest waits until what was sent before has arrived everywhere: a last message of each server. */
  async rest() {
    for (const i of [0, 1]) {
      const arrived = this.clients.filter((one) => one.connected).map((one) => event(one, "rest"));
      this.io(i).emit("rest");
      await Promise.all(arrived);
    }
  }

  /** heard collects the messages of a name at each client. */
  heard(name) {
    const lists = this.clients.map(() => []);
    this.clients.forEach((one, i) => one.on(name, (...args) => lists[i].push(args)));
    return lists;
  }

  async close() {
    for (const one of this.clients) one.disconnect();
    for (const { io } of this.#servers) await io.close();
    for (const redis of this.#redis) redis.disconnect();
  }
}

async function checkCluster(check, kind, connect, adapter) {
  let cluster;
  await check(`${kind}: two servers find each other`, async () => {
    cluster = await Cluster.start(connect, adapter);
  });
  if (!cluster) return;
  const { clients, sockets } = cluster;
  const one = (about, body) => check(`${kind}: ${about}`, body);

  await one("emit reaches the clients of both servers", async () => {
    const heard = cluster.heard("all");
    cluster.io(0).emit("all", 1, "2", { three: ["4"] });
    await cluster.rest();
    assert.deepEqual(heard, [1, 2, 3].map(() => [[1, "2", { three: ["4"] }]]));
  });

  await one("binary data", async () => {
    const heard = cluster.heard("bytes");
    cluster.io(1).emit("bytes", { data: Buffer.from([0, 255, 13]) });
    await cluster.rest();
    assert.deepEqual([...heard[0][0][0].data], [0, 255, 13]);
  });

  await one("a socket's broadcast leaves the socket out", async () => {
    const heard = cluster.heard("broadcast");
    sockets[1].broadcast.emit("broadcast");
    await cluster.rest();
    assert.deepEqual(heard.map((list) => list.length), [1, 0, 1]);
  });

  await one("rooms: to, and except", async () => {
    await sockets[0].join("room1");
    await sockets[1].join(["room1", "room2"]);
    const to = cluster.heard("to"), except = cluster.heard("except");
    cluster.io(1).to("room1").emit("to");
    cluster.io(0).to("room1").except("room2").emit("except");
    await cluster.rest();
    assert.deepEqual(to.map((list) => list.length), [1, 1, 0]);
    assert.deepEqual(except.map((list) => list.length), [1, 0, 0]);
  });

  await one("a message to one socket of the other server", async () => {
    const heard = cluster.heard("direct");
    cluster.io(0).to(sockets[2].id).emit("direct");
    await cluster.rest();
    assert.deepEqual(heard.map((list) => list.length), [0, 0, 1]);
  });

  await one("local messages stay at their server", async () => {
    const heard = cluster.heard("local");
    cluster.io(1).local.emit("local");
    await cluster.rest();
    assert.deepEqual(heard.map((list) => list.length), [0, 1, 1]);
  });

  await one("acknowledgements of all clients", async () => {
    clients.forEach((client, i) => client.on("ask", (reply) => reply(i)));
    const replies = await cluster.io(0).timeout(5000).emitWithAck("ask");
    assert.deepEqual(replies.sort(), [0, 1, 2]);
  });

  await one("a missing acknowledgement is an error with the others' replies", async () => {
    clients.slice(0, 2).forEach((client) => client.on("ask some", (reply) => reply("here")));
    const replies = await new Promise((resolve) =>
      cluster.io(1).timeout(200).emit("ask some", (error, got) => resolve([error !== null, got])));
    assert.deepEqual(replies, [true, ["here", "here"]]);
  });

  await one("fetchSockets with rooms, data and handshake", async () => {
    sockets[1].data.user = "alice";
    const [remote] = await cluster.io(0).in("room2").fetchSockets();
    assert.equal(remote.id, sockets[1].id);
    assert.deepEqual(remote.data, { user: "alice" });
    assert.deepEqual([...remote.rooms].sort(), ["room1", "room2", sockets[1].id].sort());
    assert.equal(typeof remote.handshake.headers, "object");
  });

  await one("socketsJoin and socketsLeave", async () => {
    cluster.io(0).socketsJoin("joined");
    await until(() => sockets.every((socket) => socket.rooms.has("joined")));
    cluster.io(1).in("room2").socketsLeave("joined");
    await until(() => !sockets[1].rooms.has("joined"));
    assert.equal(sockets[0].rooms.has("joined"), true);
  });

  await one("serverSideEmit", async () => {
    const arrived = event(cluster.io(1), "hello");
    cluster.io(0).serverSideEmit("hello", 1, "2");
    assert.deepEqual(await arrived, [1, "2"]);
  });

  await one("serverSideEmit with an acknowledgement", async () => {
    cluster.io(1).on("question", (what, reply) => reply(`${what}!`));
    assert.deepEqual(await cluster.io(0).serverSideEmitWithAck("question", "so"), ["so!"]);
  });

  await one("a namespace of its own", async () => {
    for (const i of [0, 1]) cluster.io(i).of("/chat");
    const both = [0, 1].map((i) => connectTo(`${cluster.address(i)}/chat`, { transports: ["websocket"], forceNew: true }));
    await Promise.all(both.map((client) => event(client, "connect")));
    clients.push(...both);
    await until(async () => (await cluster.io(0).of("/chat").fetchSockets()).length === 2);
    const heard = cluster.heard("chat");
    const arrived = both.map((client) => event(client, "chat"));
    cluster.io(0).of("/chat").emit("chat", "hi");
    await Promise.all(arrived);
    clients.splice(-2).forEach((client) => client.disconnect());
    await cluster.rest();
    assert.deepEqual(heard.map((list) => list.length), [0, 0, 0, 1, 1]);
  });

  await one("500 messages arrive in their order", async () => {
    const heard = cluster.heard("many");
    for (let i = 0; i < 500; i++) cluster.io(0).emit("many", i);
    await cluster.rest();
    assert.deepEqual(heard[2].map(([i]) => i), Array.from({ length: 500 }, (_, i) => i));
  });

  await one("disconnectSockets of the other server", async () => {
    const gone = event(clients[2], "disconnect");
    cluster.io(0).in(sockets[2].id).disconnectSockets(true);
    await gone;
    assert.equal((await cluster.io(0).fetchSockets()).length, 2);
  });

  await cluster.close();
}

/** checkRecovery checks the recovery of a connection's state, which only streams have. */
async function checkRecovery(check, adapter) {
  await check("a connection's state is recovered at the other server", async () => {
    const options = { connectionStateRecovery: { maxDisconnectionDuration: 5000 } };
    const cluster = await Cluster.start(nodeRedis, adapter, options);
    const [client] = cluster.clients;
    await cluster.sockets[0].join("mine");
    cluster.io(0).emit("before"); // the client learns an offset
    await event(client, "before");
    const id = client.id;
    client.io.engine.close(); // not a disconnect that the client asked for
    await event(cluster.sockets[0], "disconnect");
    await pause(20);
    cluster.io(1).to("mine").emit("missed", "while away");
    client.io.uri = cluster.address(1);
    const missed = event(client, "missed");
    const again = event(client, "connect");
    assert.equal((await missed)[0], "while away"); // the offset follows
    await again;
    assert.deepEqual([client.recovered, client.id], [true, id]);
    await cluster.close();
  });
}
