"""redis-py, its synchronous half."""
import threading
import time

import redis
from redis.backoff import ExponentialBackoff
from redis.cache import CacheConfig
from redis.exceptions import (AuthenticationError, ConnectionError, LockError, LockNotOwnedError,
                              NoPermissionError, NoScriptError, ResponseError, WatchError)
from redis.retry import Retry

from kit import PORT, URL, Suite, await_, equal, raises

suite = Suite("redis-py", "redis")


def client(**options):
    return redis.Redis(port=PORT, decode_responses=True, **options)


def run():
    connections(client())
    values(client())
    transactions(client())
    messages(client())
    locks(client())


def connections(r):
    @suite.check("from_url selects a database and a client name")
    def _():
        own = redis.from_url(URL + "/4?client_name=parsed&decode_responses=True")
        info = own.client_info()
        equal([info["db"], info["name"]], [4, "parsed"])

    @suite.check("RESP2 and RESP3")
    def _():
        for protocol in (2, 3):
            own = client(protocol=protocol)
            own.hset("proto", mapping={"f": "v"})
            equal([own.hgetall("proto"), own.client_info()["resp"]], [{"f": "v"}, str(protocol)])
            own.zadd("scores", {"a": 1.5})
            equal(own.zscore("scores", "a"), 1.5)

    @suite.check("users of ACL, wrong passwords, missing rights")
    def _():
        r.acl_setuser("snake", enabled=True, passwords=["+secret"], keys=["app:*"], commands=["+get", "+set"])
        user = client(username="snake", password="secret")
        user.set("app:1", 1)
        raises(NoPermissionError, "", user.set, "other", 1)
        raises(AuthenticationError, "", client(username="snake", password="wrong").get, "app:1")
        assert "~app:*" in r.acl_getuser("snake")["keys"]
        equal(r.acl_deluser("snake"), 1)

    @suite.check("a pool serves thirty threads")
    def _():
        pool = redis.BlockingConnectionPool(port=PORT, max_connections=4, timeout=20)
        own = redis.Redis(connection_pool=pool)
        threads = [threading.Thread(target=lambda: [own.incr("pool") for _ in range(20)]) for _ in range(30)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        equal(r.get("pool"), "600")

    @suite.check("a retry replaces a connection that the server ends")
    def _():
        own = client(retry=Retry(ExponentialBackoff(0.1, 0.01), 3), retry_on_error=[ConnectionError], max_connections=1)
        before = own.client_id()
        equal(r.client_kill_filter(_id=before), 1)
        assert own.client_id() != before

    @suite.check("a socket timeout ends a blocked call")
    def _():
        own = client(socket_timeout=0.1, retry=Retry(ExponentialBackoff(), 0))
        raises(redis.exceptions.TimeoutError, "", own.execute_command, "BLPOP", "never", 20)

    @suite.check("the client-side cache refuses a Redis before 7.4")
    def _():
        raises(ConnectionError, "7.4", lambda: client(protocol=3, cache_config=CacheConfig()).get("a"))


def values(r):
    @suite.check("SET with its options, GETEX, GETDEL")
    def _():
        equal([r.set("s", 1, nx=True, ex=60), r.set("s", 2, nx=True), r.set("s", 3, xx=True, keepttl=True, get=True)],
              [True, None, "1"])
        assert 50 < r.ttl("s") <= 60
        equal([r.getex("s", persist=True), r.ttl("s"), r.getdel("s"), r.get("s")], ["3", -1, "3", None])

    @suite.check("bytes and text of all kinds")
    def _():
        raw = redis.Redis(port=PORT)
        every = bytes(range(256)) * 1000
        raw.set(every, every)
        equal([raw.get(every) == every, raw.delete(every)], [True, 1])
        r.set("text", "süß 🔒")
        equal(r.get("text"), "süß 🔒")

    @suite.check("hashes, lists, sets")
    def _():
        equal([r.hset("h", mapping={"a": 1, "b": 2}), r.hincrbyfloat("h", "a", 0.5), r.hmget("h", "a", "c")],
              [2, 1.5, ["1.5", None]])
        r.rpush("l", "a", "b", "c", "b")
        equal([r.lpos("l", "b", rank=2), r.lmove("l", "l2"), r.lmpop(1, "l", direction="RIGHT", count=2)],
              [3, "a", ["l", ["b", "c"]]])
        r.sadd("s1", 1, 2, 3)
        r.sadd("s2", 2, 3)
        equal([r.sintercard(2, ["s1", "s2"]), sorted(r.sdiff("s1", "s2")), r.smismember("s1", [1, 9])], [2, ["1"], [1, 0]])

    @suite.check("sorted sets")
    def _():
        r.zadd("z", {"a": 1, "b": 2, "c": 3})
        equal(r.zadd("z", {"a": 0}, gt=True, ch=True), 0)
        equal([list(p) for p in r.zrange("z", "(1", "+inf", byscore=True, withscores=True)], [["b", 2.0], ["c", 3.0]])
        equal([list(p) for p in r.zpopmax("z")], [["c", 3.0]])
        equal(r.zrangestore("z2", "z", 0, -1), 2)

    @suite.check("geo, HyperLogLog, bits")
    def _():
        r.geoadd("g", (13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania"))
        equal([r.geosearch("g", longitude=15, latitude=37, radius=100, unit="km"), r.geodist("g", "Palermo", "Catania", "km")],
              [["Catania"], 166.2742])
        r.pfadd("p", 1, 2, 3)
        equal([r.pfcount("p"), r.bitfield("bits").incrby("u8", 0, 255).get("u4", 0).execute(), r.bitcount("bits")], [3, [255, 15], 8])

    @suite.check("scan_iter and its sisters")
    def _():
        with r.pipeline() as pipe:
            for n in range(1000):
                pipe.set(f"scan:{n}", n).hset("sh", n, n).sadd("ss", n).zadd("sz", {n: n})
            pipe.execute()
        equal([len(set(r.scan_iter("scan:*", count=100))), len(dict(r.hscan_iter("sh"))), len(set(r.sscan_iter("ss"))),
               len({m for m, _ in r.zscan_iter("sz")}), list(r.scan_iter("s[hsz]", _type="hash"))], [1000] * 4 + [["sh"]])

    @suite.check("streams and consumer groups")
    def _():
        r.xgroup_create("st", "g", id="0", mkstream=True)
        raises(ResponseError, "BUSYGROUP", r.xgroup_create, "st", "g")
        ids = [r.xadd("st", {"n": n}, maxlen=100, approximate=True) for n in range(3)]
        r.xreadgroup("g", "one", {"st": ">"}, count=2)
        equal([r.xpending("st", "g")["pending"], r.xack("st", "g", ids[0])], [2, 1])
        equal(r.xautoclaim("st", "g", "two", min_idle_time=0)[1][0][0], ids[1])
        equal([r.xinfo_stream("st")["length"], r.xinfo_groups("st")[0]["lag"], len(r.xrange("st"))], [3, 1, 3])

    @suite.check("DUMP and RESTORE, SORT, OBJECT, COPY")
    def _():
        r.rpush("u", 3, 1, 2)
        equal(r.sort("u", desc=True), ["3", "2", "1"])
        raw = redis.Redis(port=PORT)
        raw.restore("u2", 60000, raw.dump("u"))
        equal([r.lrange("u2", 0, -1), r.copy("u", "u3"), r.object("encoding", "u3")], [["3", "1", "2"], True, "quicklist"])

    @suite.check("INFO, CONFIG, COMMAND, CLIENT LIST, MEMORY")
    def _():
        info = r.info()
        equal([info["redis_version"], info["role"], info["db0"]["keys"] == r.dbsize()], ["7.0.15", "master", True])
        equal(r.config_get("maxmemory-policy"), {"maxmemory-policy": "noeviction"})
        r.config_set("hash-max-listpack-entries", 100)
        equal(r.config_get("hash-max-listpack-e*")["hash-max-listpack-entries"], "100")
        assert r.command_count() > 200 and r.memory_usage("z") > 0 and "get" in {n.lower() for n in r.command()}
        assert any(c["cmd"].startswith("client") for c in r.client_list())

    @suite.check("errors have classes")
    def _():
        raises(ResponseError, "unknown command", r.execute_command, "NOSUCH")
        r.set("str", "a")
        raises(ResponseError, "WRONGTYPE", r.lpush, "str", "b")
        raises(NoScriptError, "", r.evalsha, "f" * 40, 0)


def transactions(r):
    @suite.check("a pipeline of 10,000 commands")
    def _():
        pipe = r.pipeline(transaction=False)
        for _ in range(10000):
            pipe.incr("many")
        equal(pipe.execute()[-1], 10000)

    @suite.check("MULTI and EXEC, and an error inside")
    def _():
        equal(r.pipeline().set("m", "a").get("m").execute(), [True, "a"])
        raises(ResponseError, "Command # 2", r.pipeline().set("m", "a").incr("m").execute)
        results = r.pipeline().set("m", "a").incr("m").execute(raise_on_error=False)
        assert isinstance(results[1], ResponseError)

    @suite.check("WATCH raises WatchError, transaction() tries again")
    def _():
        with r.pipeline() as pipe:
            pipe.watch("w")
            r.set("w", "other")
            pipe.multi()
            pipe.set("w", "own")
            raises(WatchError, "", pipe.execute)

        def add(pipe):
            n = int(pipe.get("sum") or 0)
            pipe.multi()
            pipe.set("sum", n + 1)
        threads = [threading.Thread(target=lambda: r.transaction(add, "sum")) for _ in range(10)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        equal(r.get("sum"), "10")

    @suite.check("register_script, also in a pipeline")
    def _():
        script = r.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1]) -- redis-py")
        equal([script(keys=["scr"], args=[5]), script(keys=["scr"], args=[5])], [5, 10])
        r.script_flush()
        pipe = r.pipeline()
        script(keys=["scr"], args=[1], client=pipe)
        equal(pipe.execute(), [11])

    @suite.check("functions")
    def _():
        code = "#!lua name=snake\nredis.register_function('add', function(k, a) return a[1] + a[2] end)"
        equal([r.function_load(code), r.fcall("add", 0, 2, 3)], ["snake", 5])
        r.function_delete("snake")
        equal(r.function_list(), [])


def messages(r):
    @suite.check("subscribe, psubscribe and ssubscribe")
    def _():
        p = r.pubsub(ignore_subscribe_messages=True)
        p.subscribe("news")
        p.psubscribe("n*")
        await_("both subscriptions", lambda: (p.get_message(timeout=0.01), r.pubsub_numpat() == 1)[1])
        equal(r.publish("news", "hello"), 2)
        got = [await_("a message", lambda: p.get_message(timeout=0.1)) for _ in range(2)]
        equal([(m["type"], m["data"]) for m in got], [("message", "hello"), ("pmessage", "hello")])
        p.close()
        s = r.pubsub(ignore_subscribe_messages=True)
        s.ssubscribe("shard")
        await_("the subscription", lambda: (s.get_sharded_message(timeout=0.01), r.spublish("shard", "x"))[1])
        equal(await_("a message", lambda: s.get_sharded_message(timeout=0.1))["data"], "x")
        s.close()

    @suite.check("run_in_thread with a handler, and keyspace events")
    def _():
        r.config_set("notify-keyspace-events", "Ex")
        expired = []
        p = r.pubsub(ignore_subscribe_messages=True)
        p.psubscribe(**{"__keyevent@*__:expired": lambda m: expired.append(m["data"])})
        thread = p.run_in_thread(sleep_time=0.01)
        await_("the subscription", lambda: r.pubsub_numpat() == 1)
        r.set("short", 1, px=10)
        await_("the event", lambda: expired == ["short"])
        thread.stop()
        thread.join()
        r.config_set("notify-keyspace-events", "")

    @suite.check("BLPOP and BLMOVE wait, XREAD blocks")
    def _():
        got = {}
        threads = [threading.Thread(target=lambda: got.update(pop=client().blpop(["q1", "q2"], 20))),
                   threading.Thread(target=lambda: got.update(move=client().blmove("src", "dst", 20))),
                   threading.Thread(target=lambda: got.update(read=client().xread({"xs": "$"}, block=20000)))]
        [t.start() for t in threads]
        await_("three blocked clients", lambda: r.info("clients")["blocked_clients"] == 3)
        r.rpush("q2", "job")
        r.rpush("src", "job")
        r.xadd("xs", {"f": "v"})
        [t.join(20) for t in threads]
        equal([list(got["pop"]), got["move"], "xs" in str(got["read"])], [["q2", "job"], "job", True])

    @suite.check("monitor")
    def _():
        with r.monitor() as monitor:
            r.echo("seen")
            equal(next(c["command"] for c in monitor.listen() if "seen" in c["command"]), "ECHO seen")

    @suite.check("slowlog_get")
    def _():
        r.config_set("slowlog-log-slower-than", 0)
        r.echo("slow")
        r.config_set("slowlog-log-slower-than", 10000)
        assert any("ECHO slow" in str(e["command"]) for e in r.slowlog_get(20))


def locks(r):
    @suite.check("Lock excludes another owner")
    def _():
        lock = r.lock("lock", timeout=60)
        assert lock.acquire(blocking=False) and lock.locked() and lock.owned()
        equal(r.lock("lock").acquire(blocking_timeout=0.1), False)
        lock.release()
        equal([lock.locked(), r.exists("lock")], [False, 0])

    @suite.check("Lock: extend, reacquire, a lost lock")
    def _():
        lock = r.lock("lock2", timeout=10)
        lock.acquire()
        lock.extend(100)
        assert r.ttl("lock2") > 100
        lock.reacquire()
        assert r.ttl("lock2") <= 10
        r.set("lock2", "other")
        raises(LockNotOwnedError, "", lock.release)
        raises(LockError, "", r.lock("free").release)

    @suite.check("Lock: ten threads exclude each other")
    def _():
        inside, most = [], []

        def work():
            with client().lock("lock3", timeout=60, sleep=0.005):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.002)
                inside.pop()
        threads = [threading.Thread(target=work) for _ in range(10)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        equal(most, [1] * 10)
