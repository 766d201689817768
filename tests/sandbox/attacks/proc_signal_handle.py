"""Signal a process of the same user through a handle on it (pidfd); the victim sees it.

unconfined: safe
"""

import ctypes
import json
import os
import signal
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
handle = libc.syscall(434, bait["victim"], 0)
if handle < 0:
    try:
        handle = os.open(f"/proc/{bait['victim']}", os.O_RDONLY)
    except OSError as error:
        print(error, file=sys.stderr)
if handle >= 0 and libc.syscall(424, handle, signal.SIGUSR1, None, 0) == 0:
    print("BREACH")
else:
    print("CONTAINED", os.strerror(ctypes.get_errno()))
