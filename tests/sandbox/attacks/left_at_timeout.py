"""Leave daemons behind when the run is stopped at its time limit.

unconfined: no, the test would have to stop it
expect: timeout
limits: wall_s=0.4
"""

import ctypes
import json
import os
import sys
import time

bait = json.loads(sys.stdin.readline())
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        ctypes.CDLL(None).prctl(15, bait["token"].encode(), 0, 0, 0)
        time.sleep(20)
        os._exit(0)
time.sleep(20)
