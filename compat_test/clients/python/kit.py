"""Runs checks, each with a limit of time, and prints their outcomes."""
import importlib.metadata
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import redis

PORT = int(os.environ["REDIS_PORT"])
URL = f"redis://127.0.0.1:{PORT}"
LIMIT = 45  # seconds


class Suite:
    """The checks of one client."""

    def __init__(self, client, package):
        self.client, self.version = client, importlib.metadata.version(package)

    def check(self, name):
        """Decorates a function: runs it at once and prints its outcome."""
        def decorate(function):
            failure = ["\tnot done within %d s" % LIMIT]

            def target():
                try:
                    function()
                    failure[0] = ""
                except BaseException as error:
                    frame = next((f for f in reversed(traceback.extract_tb(error.__traceback__))
                                  if os.path.dirname(f.filename) == os.path.dirname(__file__)
                                  and not f.filename.endswith("kit.py")), None)
                    place = f"{os.path.basename(frame.filename)}:{frame.lineno}: " if frame else ""
                    failure[0] = "\t" + " ".join(f"{place}{type(error).__name__}: {error}".split())[:400]

            thread = threading.Thread(target=target, daemon=True)
            thread.start()
            thread.join(LIMIT)
            outcome = "FAIL" if failure[0] else "ok"
            print(f"{self.client}\t{self.version}\t{outcome}\t{name}{failure[0]}", flush=True)
            return function
        return decorate


def empty():
    """Removes what other checks left."""
    client = redis.Redis(port=PORT)
    client.flushall()
    client.script_flush()
    client.function_flush()


def equal(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")


def raises(kind, text, function, *args, **kwargs):
    """Expects an exception whose text has a part."""
    try:
        got = function(*args, **kwargs)
    except kind as error:
        if text not in str(error):
            raise AssertionError(f"got {error!r}, want {text!r}") from error
        return
    raise AssertionError(f"got {got!r}, want {kind.__name__} {text!r}")


def await_(about, condition, limit=30):
    """Waits until the condition holds, and returns its value."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError(f"{about} did not come within {limit} s")


class Process:
    """A worker of a job queue: a process that ends with the with block."""

    def __init__(self, *args):
        self.args, self.log = args, tempfile.TemporaryFile()

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-m", *self.args], stdout=self.log,
                                        stderr=self.log, start_new_session=False)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def said(self):
        """The end of what the process wrote."""
        self.log.seek(0)
        return self.log.read().decode()[-300:]
