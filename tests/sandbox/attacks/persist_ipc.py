"""Leave shared memory, a queue and semaphores of System V; the next run looks for them.

unconfined: safe
runs: 3
"""

import ctypes
import json
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
key, create, found = bait["spare_key"], 0o1666, []
for name, look, make in (
    ("shm", lambda: libc.shmget(key, 0, 0), lambda: libc.shmget(key, 4096, create)),
    ("msg", lambda: libc.msgget(key, 0), lambda: libc.msgget(key, create)),
    ("sem", lambda: libc.semget(key, 0, 0), lambda: libc.semget(key, 1, create)),
):
    if look() >= 0:
        found.append(name)
    make()
print("BREACH" if found else "CONTAINED", *found)
