"""Take descriptors out of other processes (pidfd_getfd); one that was got proves it.

unconfined: safe
"""

import ctypes
import json
import os
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
got = []
for pid in {1, os.getppid(), bait["victim"]} - {0}:
    process = libc.syscall(434, pid, 0)
    if process < 0:
        print(pid, os.strerror(ctypes.get_errno()), file=sys.stderr)
        continue
    for number in range(8):
        if libc.syscall(438, process, number, 0) >= 0:
            got.append((pid, number))
    print(pid, os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if got else "CONTAINED", *got[:5])
