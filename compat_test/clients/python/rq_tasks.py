"""The jobs of check_rq.py."""
import os
import time

import redis
from rq import get_current_job

store = redis.Redis(port=int(os.environ["REDIS_PORT"]), decode_responses=True)


def add(x, y):
    return x + y


def broken():
    raise ValueError("broken for good")


def flaky():
    if store.incr("rq-test:tries") < 3:
        raise ValueError("not yet")
    return "third time"


def describe():
    job = get_current_job()
    job.meta["step"] = 2
    job.save_meta()
    return job.id


def wait():
    time.sleep(60)


def succeeded(job, connection, result):
    connection.rpush("rq-test:done", f"{job.id}={result}")


def failed(job, connection, kind, value, traceback):
    connection.rpush("rq-test:failed", f"{job.id}={value}")
