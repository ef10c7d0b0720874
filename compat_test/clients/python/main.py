"""Checks Python's clients on the server at a port of 127.0.0.1. ../README.md says what it prints."""
import os
import sys

os.environ["REDIS_PORT"] = sys.argv[1]

import check_asyncio  # noqa: E402  (the modules read REDIS_PORT)
import check_celery  # noqa: E402
import check_huey  # noqa: E402
import check_redis  # noqa: E402
import check_rq  # noqa: E402
import kit  # noqa: E402

for module in (check_redis, check_asyncio, check_celery, check_rq, check_huey):
    kit.empty()
    module.run()
sys.stdout.flush()
os._exit(0)  # a thread of a failed check may still wait
