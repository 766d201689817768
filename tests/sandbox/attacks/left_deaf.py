"""Leave a daemon that ignores every signal and the death of its parent.

unconfined: safe
"""

import contextlib
import ctypes
import json
import os
import signal
import sys
import time

bait = json.loads(sys.stdin.readline())
print("CONTAINED unless seen from outside", flush=True)
libc = ctypes.CDLL(None)
libc.prctl(1, 0, 0, 0, 0)  # no signal when the parent dies
if os.fork() == 0:
    os.setsid()
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    if os.fork() == 0:
        libc.prctl(1, 0, 0, 0, 0)
        libc.prctl(15, bait["token"].encode(), 0, 0, 0)
        os.closerange(0, 256)
        time.sleep(20)
    os._exit(0)
os.wait()
