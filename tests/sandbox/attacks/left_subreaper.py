"""Adopt orphans (PR_SET_CHILD_SUBREAPER), make a crowd of them and leave it behind.

unconfined: safe
"""

import ctypes
import json
import os
import sys
import time

bait = json.loads(sys.stdin.readline())
print("CONTAINED unless seen from outside", flush=True)
libc = ctypes.CDLL(None)
if os.fork() == 0:
    libc.prctl(36, 1, 0, 0, 0)
    libc.prctl(15, bait["token"].encode(), 0, 0, 0)
    for _ in range(5):
        if os.fork() == 0:
            if os.fork() == 0:
                libc.prctl(15, bait["token"].encode(), 0, 0, 0)
                os.closerange(0, 256)
                time.sleep(20)
            os._exit(0)
    os.closerange(0, 256)
    time.sleep(20)
time.sleep(0.2)
