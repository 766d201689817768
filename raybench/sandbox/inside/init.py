"""The process that starts the program, reaps what it leaves, and tells how it ended."""

import json
import os
import resource
from collections.abc import Callable
from typing import Any


def tell(descriptor: int, **said: Any) -> None:
    """Write a line to the supervisor."""
    os.write(descriptor, json.dumps(said).encode() + b"\n")


def watch_over(report: int, begin: Callable[[], None]) -> None:
    """Start the program in a child, wait for its end and tell of it."""
    program = os.fork()
    if program == 0:
        begin()
        os._exit(1)
    while True:
        pid, status, usage = os.wait3(0)
        if pid == program:
            break
    # What it started and waited for counts with it; what was left to us does so too.
    everybody = resource.getrusage(resource.RUSAGE_CHILDREN)
    tell(
        report,
        status=status,
        cpu_s=everybody.ru_utime + everybody.ru_stime,
        memory_mb=max(usage.ru_maxrss, everybody.ru_maxrss) / 1024,
    )
