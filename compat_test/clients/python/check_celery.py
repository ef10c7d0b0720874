"""Celery with a live worker: Redis is the broker and keeps the results."""
import datetime
import threading

import redis
from celery import chain, chord, group
from celery.exceptions import TaskRevokedError
from celery.result import AsyncResult, GroupResult

import celery_app as tasks
from kit import PORT, Process, Suite, await_, equal, raises

suite = Suite("Celery", "celery")
app = tasks.app
WAIT = 30


def run():
    broker, backend = redis.Redis(port=PORT, db=1), redis.Redis(port=PORT, db=2, decode_responses=True)
    with Process("celery", "-A", "celery_app", "worker", "--concurrency=3", "--loglevel=error", "-E",
                 "-Q", "celery,other", "-n", "checks@localhost") as worker:
        results(backend)
        canvas()
        timing(broker)
        control(worker)
        queues(broker)


def results(backend):
    @suite.check("delay and get")
    def _():
        equal(tasks.add.delay(2, 3).get(WAIT), 5)

    @suite.check("a hundred tasks")
    def _():
        equal(sum(r.get(WAIT) for r in [tasks.add.delay(n, 1) for n in range(100)]), 5050)

    @suite.check("a result has its state, arguments and a time to live")
    def _():
        result = tasks.add.delay(1, 1)
        result.get(WAIT)
        again = AsyncResult(result.id, app=app)
        equal([again.state, again.name, list(again.args), again.worker], ["SUCCESS", "celery_app.add", [1, 1], "checks@localhost"])
        assert 86000 < backend.ttl("celery-task-meta-" + result.id) <= 86400
        again.forget()
        equal(backend.exists("celery-task-meta-" + result.id), 0)

    @suite.check("an exception comes back")
    def _():
        result = tasks.broken.delay()
        raises(ValueError, "broken for good", result.get, WAIT)
        equal([result.state, "broken for good" in result.traceback], ["FAILURE", True])

    @suite.check("retry")
    def _():
        equal(tasks.flaky.delay().get(WAIT), 2)

    @suite.check("ignore_result")
    def _():
        result = tasks.remember.delay("kept")
        equal(await_("the task", lambda: backend.lrange("remembered", 0, -1)), ["kept"])
        equal(backend.exists("celery-task-meta-" + result.id), 0)

    @suite.check("states of a task's own")
    def _():
        result = tasks.progress.delay()
        await_("the state", lambda: result.state == "PROGRESS")
        equal(result.info, {"done": 50})
        backend.set("finish", 1)
        equal(result.get(WAIT), "finished")

    @suite.check("get with on_message and a timeout")
    def _():
        states = []
        tasks.sleep.delay(0.5).get(WAIT, on_message=lambda body: states.append(body["status"]))
        equal(states[-1], "SUCCESS")
        from celery.exceptions import TimeoutError
        raises(TimeoutError, "", AsyncResult("none", app=app).get, 0.2)


def canvas():
    @suite.check("chain")
    def _():
        result = chain(tasks.add.s(2, 2), tasks.add.s(4), tasks.add.s(8))()
        equal([result.get(WAIT), result.parent.get(WAIT), result.parent.parent.get(WAIT)], [16, 8, 4])

    @suite.check("group, saved and restored")
    def _():
        result = group(tasks.add.s(n, n) for n in range(10))()
        result.save()
        equal(GroupResult.restore(result.id, app=app).get(WAIT), [2 * n for n in range(10)])

    @suite.check("chord")
    def _():
        equal(chord((tasks.add.s(n, n) for n in range(10)), tasks.total.s())().get(WAIT), 90)

    @suite.check("a chord whose header fails")
    def _():
        raises(Exception, "broken for good", chord([tasks.add.s(1, 1), tasks.broken.s()], tasks.total.s())().get, WAIT)

    @suite.check("starmap, chunks and link")
    def _():
        equal([tasks.add.starmap([(1, 2), (3, 4)]).delay().get(WAIT), tasks.add.chunks(zip(range(4), range(4)), 2)().get(WAIT)],
              [[3, 7], [[0, 2], [4, 6]]])
        result = tasks.add.apply_async((2, 2), link=tasks.add.s(16))
        equal([result.get(WAIT), result.children[0].get(WAIT)], [4, 20])


def timing(broker):
    @suite.check("countdown and eta")
    def _():
        begin = datetime.datetime.now(datetime.timezone.utc)
        result = tasks.add.apply_async((1, 1), countdown=1)
        at = tasks.add.apply_async((2, 2), eta=begin + datetime.timedelta(seconds=1))
        equal([result.get(WAIT), at.get(WAIT)], [2, 4])
        assert (datetime.datetime.now(datetime.timezone.utc) - begin).total_seconds() >= 1

    @suite.check("an expired task is revoked")
    def _():
        result = tasks.add.apply_async((1, 1), expires=datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=1))
        raises(TaskRevokedError, "expired", result.get, WAIT)

    @suite.check("acks_late leaves nothing unacknowledged")
    def _():
        equal(tasks.late.delay().get(WAIT), "celery")
        await_("the acknowledgement", lambda: broker.hlen("unacked") == 0)


def control(worker):
    @suite.check("control: ping")
    def _():
        equal(app.control.ping(timeout=10, limit=1), [{"checks@localhost": {"ok": "pong"}}])

    @suite.check("inspect: registered, stats, active_queues")
    def _():
        inspect = app.control.inspect(timeout=10, limit=1)
        assert "celery_app.add" in inspect.registered()["checks@localhost"]
        stats = inspect.stats()["checks@localhost"]
        equal([stats["broker"]["transport"], stats["pool"]["max-concurrency"]], ["redis", 3])
        equal(sorted(q["name"] for q in inspect.active_queues()["checks@localhost"]), ["celery", "other"])

    @suite.check("revoke ends a running task")
    def _():
        result = tasks.sleep.delay(60)
        await_("the start", lambda: result.state == "STARTED")
        result.revoke(terminate=True)
        raises(TaskRevokedError, "terminated", result.get, WAIT)

    @suite.check("add_consumer and cancel_consumer")
    def _():
        app.control.add_consumer("third", reply=True, timeout=10, limit=1)
        equal(tasks.add.apply_async((3, 3), queue="third").get(WAIT), 6)
        assert "no longer" in str(app.control.cancel_consumer("third", reply=True, timeout=10, limit=1))

    @suite.check("events of tasks by pub/sub")
    def _():
        seen, ready = [], threading.Event()
        with app.connection() as connection:
            def capture():
                receiver = app.events.Receiver(connection, handlers={"*": lambda e: seen.append(e["type"])})
                ready.set()
                try:
                    receiver.capture(limit=None, timeout=20, wakeup=True)
                except Exception:
                    pass  # the connection is closed below
            threading.Thread(target=capture, daemon=True).start()
            ready.wait(10)

            def arrived():
                tasks.add.delay(1, 1).get(WAIT)
                return "task-succeeded" in seen and "task-received" in seen
            await_("the events", arrived)


def queues(broker):
    @suite.check("task_routes")
    def _():
        equal(tasks.routed.delay().get(WAIT), "routed")

    @suite.check("a queue without consumer keeps tasks by priority; purge")
    def _():
        for priority in (0, 9):
            tasks.add.apply_async((1, 1), queue="idle", priority=priority)
        equal([broker.llen("idle"), broker.llen("idle\x06\x169")], [1, 1])
        with app.connection_for_write() as connection:
            channel = connection.default_channel
            equal([channel.queue_declare("idle", passive=True).message_count, channel.queue_purge("idle")], [2, 2])
