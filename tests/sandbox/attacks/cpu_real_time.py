"""Run before everybody else: real-time and deadline scheduling, a negative nice value.

unconfined: safe
"""

import ctypes
import os
import platform
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 314, "aarch64": 274}[platform.machine()]
deadline = struct.pack("IIQiIQQQ", 48, 6, 0, 0, 0, 10**6, 10**7, 10**7)
done = []
for name, attempt in {
    "fifo": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    "rr": lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1)),
    "nice": lambda: os.setpriority(os.PRIO_PROCESS, 0, -10),
}.items():
    try:
        attempt()
        done.append(name)
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except OSError as error:
        print(name, error, file=sys.stderr)
if libc.syscall(number, 0, deadline, 0) == 0:
    done.append("deadline")
print("BREACH" if done else "CONTAINED", *done)
