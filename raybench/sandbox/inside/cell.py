"""The last walls, and the program behind them: what happens in the process that runs it."""

import contextlib
import math
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from typing import NoReturn

from . import init, kernel, program, recursion

_MB = 1 << 20
_DESCRIPTORS = 1 << 20
"""More than any of our processes has open."""
_SLACK_MB = 256
"""Address space beyond the memory that may be used: not all that is mapped is touched."""
_PENDING_SIGNALS, _LOCKED = 1024, 65536


def enter(
    source: bytes,
    limits: Mapping[str, float],
    streams: Sequence[int],
    report: int,
    *,
    mapped_mb: float,
    others: int | None,
    filter_calls: bytes | None,
) -> NoReturn:
    """Run a program and end with its exit code.

    `streams` become its standard ones, all other descriptors are closed. `mapped_mb` is the address
    space that the server itself has, `others` the number of processes that count and are not the
    program's (None: they cannot be counted, and are not limited).
    """
    try:
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
        report = os.dup2(report, len(streams))
        os.closerange(report + 1, _DESCRIPTORS)
        os.umask(0o077)
        if filter_calls is not None:  # or nothing is to be walled in
            kernel.drop_capabilities()
        kernel.be_readable(True)  # to the processes that the program itself starts
        _limit(limits, mapped_mb, others)
        if filter_calls is not None:
            kernel.filter_calls(filter_calls)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        program.fresh()
        recursion.allow(limits["stack_mb"])
        program.open_streams()
    except BaseException as error:
        init.tell(report, fault=kernel.told(error))
        os._exit(1)
    os.close(report)
    code = 1
    with contextlib.suppress(BaseException):  # nothing of the program gets beyond here
        code = program.run(source)
    os._exit(code)


def _limit(limits: Mapping[str, float], mapped_mb: float, others: int | None) -> None:
    # The kernel's count is coarse: who watches from outside is to be the first to stop it.
    cpu = math.ceil(limits["cpu_s"]) + 1
    hard = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: int(limits["disk_mb"]) * _MB,
        resource.RLIMIT_NOFILE: int(limits["descriptors"]),
        resource.RLIMIT_MEMLOCK: _LOCKED,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: _PENDING_SIGNALS,
        resource.RLIMIT_AS: int(mapped_mb + limits["memory_mb"] + _SLACK_MB) * _MB,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_NICE: 0,
    }
    if others is not None:
        hard[resource.RLIMIT_NPROC] = int(limits["processes"]) + others
    for which, value in hard.items():
        _set(which, value, value)
    _set(resource.RLIMIT_CPU, cpu, cpu + 1)
    # Programs that recurse deeply may ask for more: it counts as memory.
    _set(resource.RLIMIT_STACK, int(limits["stack_mb"]) * _MB, resource.RLIM_INFINITY)


def _set(which: int, soft: int, hard: int) -> None:
    ceiling = resource.getrlimit(which)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft = min(soft, ceiling)
        hard = ceiling if hard == resource.RLIM_INFINITY else min(hard, ceiling)
    resource.setrlimit(which, (soft, hard))
