"""redis-py, its asyncio half."""
import asyncio

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError, LockNotOwnedError, ResponseError, WatchError

from kit import LIMIT, PORT, URL, Suite, equal

suite = Suite("redis-py asyncio", "redis")


def check(name):
    """Runs a coroutine as a check. It gets a client."""
    def decorate(coroutine):
        async def limited():
            async with redis.Redis(port=PORT, decode_responses=True) as r:
                await asyncio.wait_for(coroutine(r), LIMIT - 5)
        suite.check(name)(lambda: asyncio.run(limited()))
    return decorate


async def raises(kind, text, awaitable):
    try:
        got = await awaitable
    except kind as error:
        assert text in str(error), error
        return
    raise AssertionError(f"got {got!r}, want {kind.__name__}")


async def until(about, condition):
    while not await condition():
        await asyncio.sleep(0.01)  # check() has the limit


def run():
    commands()
    waiting()
    locks()


def commands():
    @check("from_url with a pool")
    async def _(r):
        pool = redis.ConnectionPool.from_url(URL + "/5?decode_responses=True&max_connections=3")
        async with redis.Redis.from_pool(pool) as own:
            await own.set("five", 5)
            equal([await own.get("five"), (await own.client_info())["db"]], ["5", 5])

    @check("RESP2 and RESP3")
    async def _(r):
        for protocol in (2, 3):
            async with redis.Redis(port=PORT, protocol=protocol, decode_responses=True) as own:
                await own.hset("h", mapping={"f": "v"})
                equal([await own.hgetall("h"), (await own.client_info())["resp"]], [{"f": "v"}, str(protocol)])

    @check("a hundred tasks over a blocking pool")
    async def _(r):
        pool = redis.BlockingConnectionPool(port=PORT, max_connections=4, timeout=20)
        async with redis.Redis.from_pool(pool) as own:
            await asyncio.gather(*(own.incr("n") for _ in range(100)))
        equal(await r.get("n"), "100")

    @check("a pipeline of 5,000 commands")
    async def _(r):
        async with r.pipeline(transaction=False) as pipe:
            for _ in range(5000):
                pipe.incr("many")
            equal((await pipe.execute())[-1], 5000)

    @check("MULTI and EXEC, and an error inside")
    async def _(r):
        equal(await r.pipeline().set("m", "a").get("m").execute(), [True, "a"])
        await raises(ResponseError, "Command # 2", r.pipeline().set("m", "a").incr("m").execute())

    @check("WATCH raises WatchError")
    async def _(r):
        async with r.pipeline() as pipe:
            await pipe.watch("w")
            await r.set("w", "other")
            pipe.multi()
            pipe.set("w", "own")
            await raises(WatchError, "", pipe.execute())

    @check("transaction() increments without losses")
    async def _(r):
        async def add(pipe):
            n = int(await pipe.get("sum") or 0)
            pipe.multi()
            pipe.set("sum", n + 1)
        await asyncio.gather(*(r.transaction(add, "sum") for _ in range(10)))
        equal(await r.get("sum"), "10")

    @check("register_script")
    async def _(r):
        script = r.register_script("return {KEYS[1], ARGV[1]} -- asyncio")
        equal([await script(keys=["k"], args=["a"]) for _ in range(2)], [["k", "a"]] * 2)

    @check("scan_iter")
    async def _(r):
        await r.mset({f"it:{n}": n for n in range(500)})
        equal(len({k async for k in r.scan_iter("it:*")}), 500)

    @check("streams and consumer groups")
    async def _(r):
        await r.xgroup_create("st", "g", mkstream=True)
        await r.xadd("st", {"f": "v"})
        await r.xreadgroup("g", "me", {"st": ">"})
        equal((await r.xpending("st", "g"))["pending"], 1)

    @check("a connection that the server ends is replaced")
    async def _(r):
        own = redis.Redis(port=PORT, retry=Retry(ConstantBackoff(0.01), 3), retry_on_error=[ConnectionError])
        before = await own.client_id()
        await r.client_kill_filter(_id=before)
        assert await own.client_id() != before
        await own.aclose()


def waiting():
    @check("BLPOP waits in a task")
    async def _(r):
        task = asyncio.create_task(redis.Redis(port=PORT, decode_responses=True).blpop("jobs", 20))
        await asyncio.sleep(0.01)
        await r.rpush("jobs", "one")
        equal(list(await task), ["jobs", "one"])

    @check("a cancelled task leaves the client usable")
    async def _(r):
        task = asyncio.create_task(r.blpop("never", 20))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        equal(await r.echo("usable"), "usable")

    @check("XREAD blocks until an entry comes")
    async def _(r):
        task = asyncio.create_task(redis.Redis(port=PORT).xread({"xs": "0"}, block=20000))
        await r.xadd("xs", {"f": "v"})
        assert "xs" in str(await task)

    @check("subscribe and psubscribe with listen()")
    async def _(r):
        async with r.pubsub(ignore_subscribe_messages=True) as p:
            await p.subscribe("news")
            await p.psubscribe("n*")
            await p.get_message(timeout=1)

            async def numbers():
                return (await r.pubsub_numsub("news"))[0][1] == 1 and await r.pubsub_numpat() == 1
            await until("the subscriptions", numbers)
            equal(await r.publish("news", "hello"), 2)
            got = []
            async for message in p.listen():
                got.append((message["type"], message["data"]))
                if len(got) == 2:
                    break
            equal(got, [("message", "hello"), ("pmessage", "hello")])

    @check("monitor")
    async def _(r):
        async with r.monitor() as monitor:
            await r.echo("seen")
            async for command in monitor.listen():
                if "seen" in command["command"]:
                    break


def locks():
    @check("Lock excludes another owner")
    async def _(r):
        async with r.lock("lock", timeout=60) as lock:
            assert await lock.owned()
            equal(await r.lock("lock").acquire(blocking_timeout=0.1), False)
        equal(await r.exists("lock"), 0)

    @check("Lock: extend, and a lost lock")
    async def _(r):
        lock = r.lock("lock2", timeout=10)
        await lock.acquire()
        await lock.extend(100)
        assert await r.ttl("lock2") > 100
        await r.set("lock2", "other")
        await raises(LockNotOwnedError, "", lock.release())

    @check("Lock: twenty tasks exclude each other")
    async def _(r):
        inside, most = [], []

        async def work():
            async with r.lock("lock3", timeout=60, sleep=0.005):
                inside.append(1)
                most.append(len(inside))
                await asyncio.sleep(0.001)
                inside.pop()
        await asyncio.gather(*(work() for _ in range(20)))
        equal(most, [1] * 20)
