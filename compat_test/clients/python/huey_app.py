"""The Huey instance and the tasks of check_huey.py."""
import os
import time

import redis
from huey import CancelExecution, PriorityRedisHuey, RedisExpireHuey, RedisHuey, crontab

PORT = int(os.environ["REDIS_PORT"])
store = redis.Redis(port=PORT, decode_responses=True)
huey = RedisHuey("checks", port=PORT)
priority = PriorityRedisHuey("important", port=PORT)
expiring = RedisExpireHuey("expiring", port=PORT, expire_time=600)


@huey.task()
def add(x, y):
    return x + y


@huey.task()
def broken():
    raise ValueError("broken for good")


@huey.task(retries=3, retry_delay=0)
def flaky():
    if store.incr("huey-test:tries") < 3:
        raise ValueError("not yet")
    return "third time"


@huey.task()
def cancelled():
    raise CancelExecution()


@huey.task(context=True)
def own_id(task=None):
    return task.id


@huey.task()
def locked(n):
    with huey.lock_task("lock"):
        store.rpush("huey-test:locked", n)
        time.sleep(0.3)
    return n


@huey.task()
def total(numbers):
    return sum(numbers)


@huey.periodic_task(crontab(minute="0", hour="3"))
def nightly():
    return "night"


@priority.task()
def important(n):
    return n


@expiring.task()
def double(n):
    return 2 * n


@huey.signal()
def record(signal, task, exc=None):
    store.rpush("huey-test:signals:" + task.id, signal)
