"""Leave a daemon that holds stdout and stderr open: the run must not wait for it.

unconfined: no, the test's own pipe would wait for it
most_s: 10
"""

import ctypes
import json
import os
import sys
import time

bait = json.loads(sys.stdin.readline())
print("CONTAINED unless seen from outside", flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, bait["token"].encode(), 0, 0, 0)
        time.sleep(20)
    os._exit(0)
os.wait()
