"""The Celery application of check_celery.py."""
import os
import time

from celery import Celery

URL = f"redis://127.0.0.1:{os.environ['REDIS_PORT']}"
app = Celery("checks", broker=URL + "/1", backend=URL + "/2")
app.conf.update(
    result_extended=True, broker_connection_retry_on_startup=True, worker_hijack_root_logger=False,
    task_track_started=True, worker_send_task_events=True, task_send_sent_event=True,
    broker_transport_options={"priority_steps": list(range(10)), "queue_order_strategy": "priority",
                              "visibility_timeout": 600},
    task_routes={"celery_app.routed": {"queue": "other"}}, worker_prefetch_multiplier=1)


@app.task
def add(x, y):
    return x + y


@app.task
def total(numbers):
    return sum(numbers)


@app.task
def broken():
    raise ValueError("broken for good")


@app.task(bind=True, max_retries=3)
def flaky(self):
    if self.request.retries < 2:
        raise self.retry(countdown=0)
    return self.request.retries


@app.task(ignore_result=True)
def remember(value):
    app.backend.client.rpush("remembered", value)


@app.task
def routed():
    return "routed"


@app.task(bind=True)
def progress(self):
    self.update_state(state="PROGRESS", meta={"done": 50})
    while not app.backend.client.exists("finish"):
        time.sleep(0.01)
    return "finished"


@app.task(bind=True, acks_late=True)
def late(self):
    return self.request.delivery_info["routing_key"]


@app.task
def sleep(seconds):
    time.sleep(seconds)
