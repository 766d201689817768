"""Signal a process of the same user, by every call there is; the victim sees it.

unconfined: safe
"""

import ctypes
import json
import os
import platform
import signal
import sys

bait = json.loads(sys.stdin.readline())
victim = bait["victim"]
libc = ctypes.CDLL(None, use_errno=True)
tkill, tgkill, sigqueue = {"x86_64": (200, 234, 129), "aarch64": (130, 131, 138)}[
    platform.machine()
]
information = (ctypes.c_int * 32)(signal.SIGUSR1, 0, -1)
done = []
for name, attempt in {
    "kill": lambda: libc.kill(victim, signal.SIGUSR1),
    "tkill": lambda: libc.syscall(tkill, victim, signal.SIGUSR1),
    "tgkill": lambda: libc.syscall(tgkill, victim, victim, signal.SIGUSR1),
    "sigqueue": lambda: libc.syscall(sigqueue, victim, signal.SIGUSR1, information),
}.items():
    if attempt() == 0:
        done.append(name)
    else:
        print(name, os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if done else "CONTAINED", *done)
