"""Leave a message queue of POSIX; the next run looks for it.

unconfined: safe
runs: 3
"""

import ctypes
import json
import os
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL("librt.so.1", use_errno=True)
name = f"/{bait['token']}".encode()
if libc.mq_open(name, os.O_RDONLY) >= 0:
    print("BREACH")
elif libc.mq_open(name, os.O_CREAT | os.O_RDWR, 0o666, None) < 0:
    print("CONTAINED", os.strerror(ctypes.get_errno()))
else:
    print("CONTAINED as far as this run")
