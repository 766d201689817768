"""Enter the namespaces of other processes (setns by file and by pidfd).

unconfined: safe
"""

import ctypes
import json
import os
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
joined = []
for pid in {1, os.getppid(), bait["victim"]} - {0}:
    for name in ("net", "mnt", "pid", "ipc", "uts", "cgroup", "user"):
        try:
            file = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
            if libc.setns(file, 0) == 0:
                joined.append((pid, name))
        except OSError as error:
            print(error, file=sys.stderr)
    handle = libc.syscall(434, pid, 0)
    if handle >= 0 and libc.setns(handle, 0x40000000) == 0:
        joined.append((pid, "pidfd"))
print(os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if joined else "CONTAINED", *joined[:5])
