"""Leave a daemon behind, by two forks and a session of its own; it is looked for from outside.

unconfined: safe
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
        os.closerange(0, 256)
        time.sleep(20)
    os._exit(0)
os.wait()
