"""RQ: workers in burst mode and a live worker with its scheduler."""
import datetime
import logging

import redis
from rq import Queue, Repeat, Retry, Worker
from rq.command import send_shutdown_command, send_stop_job_command
from rq.exceptions import NoSuchJobError
from rq.group import Group
from rq.job import Job, JobStatus
from rq.registry import (CanceledJobRegistry, DeferredJobRegistry, FailedJobRegistry, FinishedJobRegistry,
                         ScheduledJobRegistry)

import rq_tasks as tasks
from kit import PORT, Process, Suite, URL, await_, equal, raises

suite = Suite("RQ", "rq")
r = redis.Redis(port=PORT)


def burst(queue, *options):
    """Runs a worker until the queue is empty. It is a process of its own, because it takes signals."""
    with Process("rq.cli", "worker", "--burst", "--url", URL, "--quiet", *options, queue.name) as worker:
        equal(worker.process.wait(40), 0)


def work(queue):
    """Runs a worker that does not fork for each job, which is faster."""
    burst(queue, "--worker-class", "rq.worker.SimpleWorker")


def run():
    logging.getLogger("rq").setLevel(logging.CRITICAL)
    bursts()
    registries()
    live()


def bursts():
    @suite.check("a forking worker in burst mode")
    def _():
        queue = Queue("one", connection=r)
        job = queue.enqueue(tasks.add, 2, 3)
        equal([queue.count, job.get_status()], [1, JobStatus.QUEUED])
        burst(queue)
        equal([job.return_value(refresh=True), job.get_status(), queue.count], [5, JobStatus.FINISHED, 0])

    @suite.check("two hundred jobs with enqueue_many")
    def _():
        queue = Queue("many", connection=r)
        jobs = queue.enqueue_many([Queue.prepare_data(tasks.add, (n, 1)) for n in range(200)])
        work(queue)
        equal(sum(job.return_value(refresh=True) for job in jobs), 20100)

    @suite.check("a failed job and its exception")
    def _():
        queue = Queue("bad", connection=r)
        job = queue.enqueue(tasks.broken)
        work(queue)
        equal(job.get_status(), JobStatus.FAILED)
        assert "broken for good" in job.latest_result().exc_string
        equal(list(FailedJobRegistry(queue=queue).get_job_ids()), [job.id])

    @suite.check("Retry")
    def _():
        queue = Queue("retry", connection=r)
        job = queue.enqueue(tasks.flaky, retry=Retry(max=5))
        work(queue)
        equal(job.return_value(refresh=True), "third time")

    @suite.check("requeue of a failed job")
    def _():
        queue = Queue("bad", connection=r)
        registry = FailedJobRegistry(queue=queue)
        job = registry.requeue(registry.get_job_ids()[0])
        equal([queue.job_ids, registry.count], [[job.id], 0])

    @suite.check("depends_on")
    def _():
        queue = Queue("depends", connection=r)
        first = queue.enqueue(tasks.add, 1, 1)
        second = queue.enqueue(tasks.add, 2, 2, depends_on=first)
        equal([second.get_status(), DeferredJobRegistry(queue=queue).count], [JobStatus.DEFERRED, 1])
        work(queue)
        equal(second.return_value(refresh=True), 4)

    @suite.check("meta, the current job and on_success")
    def _():
        queue = Queue("meta", connection=r)
        job = queue.enqueue(tasks.describe, job_id="own-id", meta={"step": 1}, on_success=tasks.succeeded)
        work(queue)
        equal([job.return_value(refresh=True), job.get_meta(refresh=True), r.lrange("rq-test:done", 0, -1)],
              ["own-id", {"step": 2}, [b"own-id=own-id"]])

    @suite.check("on_failure")
    def _():
        queue = Queue("meta", connection=r)
        queue.enqueue(tasks.broken, job_id="bad-id", on_failure=tasks.failed)
        work(queue)
        equal(r.lrange("rq-test:failed", 0, -1), [b"bad-id=broken for good"])

    @suite.check("several results of a job are a stream")
    def _():
        queue = Queue("meta", connection=r)
        job = queue.enqueue(tasks.add, 1, 2, result_ttl=600)
        work(queue)
        queue.enqueue_job(job)
        work(queue)
        equal([result.return_value for result in job.results()], [3, 3])
        equal(r.type(f"rq:results:{job.id}"), b"stream")


def registries():
    @suite.check("at_front, positions, remove and empty")
    def _():
        queue = Queue("order", connection=r)
        jobs = [queue.enqueue(tasks.add, n, n) for n in range(3)]
        front = queue.enqueue(tasks.add, 9, 9, at_front=True)
        equal([queue.job_ids[0], queue.get_job_position(jobs[2])], [front.id, 3])
        queue.remove(jobs[0])
        equal([queue.count, queue.empty(), queue.count], [3, 3, 0])
        raises(NoSuchJobError, "", Job.fetch, jobs[1].id, connection=r)

    @suite.check("cancel and delete")
    def _():
        queue = Queue("order", connection=r)
        job = queue.enqueue(tasks.add, 1, 1)
        job.cancel()
        equal([queue.count, CanceledJobRegistry(queue=queue).get_job_ids()], [0, [job.id]])
        job.delete()
        equal([Job.exists(job.id, connection=r), CanceledJobRegistry(queue=queue).count], [False, 0])

    @suite.check("Group")
    def _():
        queue = Queue("group", connection=r)
        group = Group.create(connection=r)
        group.enqueue_many(queue, [Queue.prepare_data(tasks.add, (n, n), result_ttl=600) for n in range(5)])
        equal(len(Group.fetch(group.name, connection=r).get_jobs()), 5)
        work(queue)
        equal(sorted(job.return_value() for job in group.get_jobs()), [0, 2, 4, 6, 8])

    @suite.check("result_ttl and ttl are deadlines of keys")
    def _():
        queue = Queue("ttl", connection=r)
        job = queue.enqueue(tasks.add, 1, 1, ttl=100)
        assert 90 < r.ttl(job.key) <= 100
        gone = queue.enqueue(tasks.add, 1, 1, result_ttl=0)
        work(queue)
        equal([Job.exists(gone.id, connection=r), FinishedJobRegistry(queue=queue).get_job_ids()], [False, [job.id]])

    @suite.check("enqueue_in puts a job into the registry of scheduled jobs")
    def _():
        queue = Queue("later", connection=r)
        job = queue.enqueue_in(datetime.timedelta(hours=1), tasks.add, 1, 1)
        registry = ScheduledJobRegistry(queue=queue)
        equal([registry.get_job_ids(), job.get_status()], [[job.id], JobStatus.SCHEDULED])
        left = registry.get_scheduled_time(job) - datetime.datetime.now(datetime.timezone.utc)
        assert 3500 < left.total_seconds() <= 3600

    @suite.check("Queue.all and Worker.count")
    def _():
        assert {"one", "many", "bad"} <= {queue.name for queue in Queue.all(connection=r)}
        equal(Worker.count(connection=r), 0)


def live():
    queue = Queue("live", connection=r)
    with Process("rq.cli", "worker", "--url", URL, "--quiet", "--with-scheduler", "--name", "checks", "live") as process:
        @suite.check("a live worker registers and works")
        def _():
            await_("the worker", lambda: Worker.count(queue=queue) == 1)
            job = queue.enqueue(tasks.add, 20, 22)
            equal(job.latest_result(timeout=20).return_value, 42)
            worker = Worker.all(connection=r)[0]
            equal([worker.name, worker.queue_names()], ["checks", ["live"]])

        @suite.check("send_stop_job_command reaches the worker by pub/sub")
        def _():
            job = queue.enqueue(tasks.wait)
            await_("the start", lambda: job.get_status() == JobStatus.STARTED)
            send_stop_job_command(r, job.id)
            await_("the end", lambda: job.get_status() == JobStatus.STOPPED)

        @suite.check("the scheduler enqueues a job in time")
        def _():
            job = queue.enqueue_in(datetime.timedelta(seconds=1), tasks.add, 3, 4)
            await_("the result", lambda: job.return_value(refresh=True) == 7, 40)

        @suite.check("Repeat")
        def _():
            job = queue.enqueue(tasks.add, 1, 1, repeat=Repeat(times=1, interval=1), result_ttl=600)
            await_("two results", lambda: len(job.results()) == 2, 40)

        @suite.check("send_shutdown_command ends the worker")
        def _():
            send_shutdown_command(r, "checks")
            equal(process.process.wait(30), 0)
            equal(Worker.count(connection=r), 0)
