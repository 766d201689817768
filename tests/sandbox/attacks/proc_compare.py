"""Learn addresses and files of another process (kcmp).

unconfined: safe
"""

import ctypes
import json
import os
import platform
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
kcmp = {"x86_64": 312, "aarch64": 272}[platform.machine()]
done = []
for pid in (bait["victim"], os.getppid(), 1):
    if pid and libc.syscall(kcmp, os.getpid(), pid, 1, 0, 0) >= 0:
        done.append(pid)
    print(pid, os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if done else "CONTAINED", *done)
