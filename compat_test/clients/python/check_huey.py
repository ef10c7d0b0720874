"""Huey with a live consumer."""
import datetime

from huey import group
from huey.exceptions import HueyException, ResultTimeout, TaskException, TaskLockedException

import huey_app as tasks
from kit import Process, Suite, await_, equal, raises

suite = Suite("Huey", "huey")
huey, store = tasks.huey, tasks.store


def get(result, timeout=30):
    return result.get(blocking=True, timeout=timeout)


def run():
    without_consumer()
    with Process("huey.bin.huey_consumer", "huey_app.huey", "--workers=4", "--quiet", "--delay=0.05", "--scheduler-interval=1"):
        results()
        control()


def without_consumer():
    @suite.check("pending tasks, and flush")
    def _():
        tasks.add(1, 1)
        tasks.add(2, 2)
        equal([huey.pending_count(), [t.args for t in huey.pending()]], [2, [(1, 1), (2, 2)]])
        huey.flush()
        equal(huey.pending_count(), 0)

    @suite.check("dequeue and execute by hand")
    def _():
        result = tasks.add(2, 3)
        equal([huey.execute(huey.dequeue()), result()], [5, 5])

    @suite.check("the schedule hands out what is due")
    def _():
        tasks.add.schedule((1, 1), delay=3600)
        task = huey.dequeue()
        equal(huey.ready_to_run(task), False)
        huey.add_schedule(task)
        equal([huey.scheduled_count(), huey.read_schedule()], [1, []])
        equal([t.id for t in huey.read_schedule(task.eta + datetime.timedelta(seconds=1))], [task.id])
        equal(huey.scheduled_count(), 0)

    @suite.check("priorities")
    def _():
        for n, priority in ((1, 0), (2, 50), (3, 10)):
            tasks.important(n, priority=priority)
        equal([tasks.priority.execute(tasks.priority.dequeue()) for _ in range(3)], [2, 3, 1])

    @suite.check("results that expire")
    def _():
        result = tasks.double(21)
        equal(tasks.expiring.execute(tasks.expiring.dequeue()), 42)
        keys = [key for key in store.scan_iter("*expiring*") if result.id in key]
        assert len(keys) == 1 and 500 < store.ttl(keys[0]) <= 600
        equal(result(), 42)

    @suite.check("a lock excludes and is released")
    def _():
        with huey.lock_task("own"):
            assert huey.is_locked("own")
            raises(TaskLockedException, "", huey.lock_task("own").__enter__)
        equal(huey.is_locked("own"), False)

    @suite.check("put, get and peek of the storage")
    def _():
        huey.put("key", {"a": 1})
        equal([huey.get("key", peek=True), huey.get("key"), huey.get("key")], [{"a": 1}, {"a": 1}, None])
        equal([huey.put_if_empty("once", 1), huey.put_if_empty("once", 2), huey.get("once")], [True, False, 1])

    @suite.check("periodic tasks know their time")
    def _():
        night = datetime.datetime(2024, 1, 1, 3, 0)
        equal([t.name for t in huey.read_periodic(night)], ["nightly"])
        equal(huey.read_periodic(night + datetime.timedelta(minutes=1)), [])

    @suite.check("revoke and restore of a whole task")
    def _():
        tasks.nightly.revoke()
        equal(tasks.nightly.is_revoked(), True)
        tasks.nightly.restore()
        equal(tasks.nightly.is_revoked(), False)


def results():
    @suite.check("a result comes, blocking")
    def _():
        equal(get(tasks.add(20, 22)), 42)

    @suite.check("a hundred tasks with map")
    def _():
        equal(tasks.add.map([(n, 1) for n in range(100)]).get(blocking=True, timeout=30), list(range(1, 101)))

    @suite.check("an exception comes back")
    def _():
        raises(TaskException, "broken for good", get, tasks.broken())

    @suite.check("retries")
    def _():
        result = tasks.flaky()
        equal(await_("the result", lambda: attempt(result)), "third time")

    @suite.check("delay")
    def _():
        begin = datetime.datetime.now()
        equal(get(tasks.add.schedule((1, 2), delay=1)), 3)
        assert (datetime.datetime.now() - begin).total_seconds() >= 0.9

    @suite.check("a pipeline with then")
    def _():
        results = huey.enqueue(tasks.add.s(1, 2).then(tasks.add, 3).then(tasks.add, 4))
        equal(results.get(blocking=True, timeout=30), [3, 6, 10])

    @suite.check("a group")
    def _():
        results = huey.enqueue(group([tasks.add.s(n, n) for n in range(5)]))
        equal(results.get(blocking=True, timeout=30), [0, 2, 4, 6, 8])

    @suite.check("a chord: a group, then its sum")
    def _():
        results = huey.enqueue(group([tasks.add.s(n, n) for n in range(5)]).then(tasks.total))
        equal(await_("the sum", lambda: last(results)), 20)

    @suite.check("the task's id, and a result by id")
    def _():
        result = tasks.own_id()
        equal(huey.result(result.id, blocking=True, timeout=30), result.id)

    @suite.check("a timeout of the caller")
    def _():
        raises((ResultTimeout, HueyException), "", get, tasks.add.schedule((1, 1), delay=3600), 0.2)


def attempt(result):
    """A result, or None while the task has failed and is tried again."""
    try:
        return result.get(preserve=True)
    except TaskException:
        result.reset()
        return None


def last(results):
    got = results.get(blocking=True, timeout=30)
    return got[-1] if isinstance(got, (list, tuple)) else got


def control():
    @suite.check("revoke of a scheduled task")
    def _():
        result = tasks.add.schedule((1, 1), delay=1)
        result.revoke()
        await_("the signal", lambda: "revoked" in signals(result))

    @suite.check("expires")
    def _():
        result = tasks.add.schedule((1, 1), delay=2, expires=datetime.datetime.now() + datetime.timedelta(seconds=1))
        await_("the signal", lambda: "expired" in signals(result))

    @suite.check("signals of a task")
    def _():
        result = tasks.add(1, 1)
        get(result)
        await_("the signals", lambda: signals(result) == ["enqueued", "executing", "complete"])
        cancelled = tasks.cancelled()
        await_("the signal", lambda: "canceled" in signals(cancelled))

    @suite.check("a locked task fails")
    def _():
        results = [tasks.locked(n) for n in range(2)]
        await_("the signal", lambda: any("locked" in signals(result) for result in results))
        equal(store.llen("huey-test:locked"), 1)

    @suite.check("reschedule")
    def _():
        result = tasks.add.schedule((4, 5), delay=3600)
        equal(get(result.reschedule(delay=0)), 9)


def signals(result):
    return store.lrange("huey-test:signals:" + result.id, 0, -1)
