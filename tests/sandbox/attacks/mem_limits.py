"""Raise the limits that were set, each beyond its ceiling.

unconfined: no, a host may refuse it even to root
"""

import resource
import sys

raised = []
for name in (
    "AS",
    "DATA",
    "FSIZE",
    "NPROC",
    "NOFILE",
    "CPU",
    "CORE",
    "MEMLOCK",
    "MSGQUEUE",
    "RTPRIO",
):
    number = getattr(resource, f"RLIMIT_{name}")
    soft, hard = resource.getrlimit(number)
    try:
        if hard != resource.RLIM_INFINITY:
            resource.setrlimit(number, (soft, hard + 1))
            raised.append(name)
    except (OSError, ValueError) as error:
        print(name, error, file=sys.stderr)
print("BREACH" if raised else "CONTAINED", *raised)
