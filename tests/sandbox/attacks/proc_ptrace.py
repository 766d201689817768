"""Trace processes of the same user (attach, seize); one that let itself be traced proves it.

unconfined: safe
"""

import ctypes
import json
import os
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
done = []
for pid in {bait["victim"], os.getppid(), 1} - {0}:
    for request in (0x4206, 16):  # PTRACE_SEIZE leaves it running
        if request == 16 and pid != bait["victim"]:
            continue
        if libc.ptrace(request, pid, None, None) == 0:
            done.append((pid, request))
            break
        print(pid, os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if done else "CONTAINED", *done)
