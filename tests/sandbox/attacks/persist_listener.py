"""Leave a daemon listening on an abstract socket; the next run connects to it.

unconfined: safe
runs: 3
"""

import ctypes
import json
import os
import socket
import sys
import time

bait = json.loads(sys.stdin.readline())
try:
    with socket.socket(socket.AF_UNIX) as link:
        link.connect("\0" + bait["token"])
    print("BREACH", flush=True)
except OSError as error:
    print("CONTAINED", error, flush=True)
if os.fork() == 0:
    os.setsid()
    ctypes.CDLL(None).prctl(15, bait["token"].encode(), 0, 0, 0)
    os.closerange(0, 256)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0" + bait["token"])
    listener.listen()
    time.sleep(20)
time.sleep(0.1)
