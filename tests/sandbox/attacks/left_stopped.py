"""Leave a stopped process behind: it is never scheduled to notice its end.

unconfined: safe
"""

import ctypes
import json
import os
import signal
import sys

bait = json.loads(sys.stdin.readline())
print("CONTAINED unless seen from outside", flush=True)
child = os.fork()
if child == 0:
    ctypes.CDLL(None).prctl(15, bait["token"].encode(), 0, 0, 0)
    os.closerange(0, 256)
    os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
os.waitpid(child, os.WUNTRACED)
