"""Hold four times the memory that is allowed in processes that let nobody look at them.

Who sums up memory by what such a process shows of itself (smaps) sees nothing.

unconfined: safe
expect: ok memory
limits: cpu_s=10 wall_s=60
"""

import ctypes
import json
import os
import sys
import time

bait = json.loads(sys.stdin.readline())
share = bait["limits"]["memory_mb"] * 3 // 8
libc = ctypes.CDLL(None)
libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
reports, report = os.pipe()
waits, go = os.pipe()
children = []
for _ in range(12):
    try:
        child = os.fork()
    except OSError as error:
        print(error, file=sys.stderr)
        break
    if child == 0:
        os.close(go)
        try:
            block = bytearray(b"\1" * (share << 20))
            os.write(report, b"held")
        except MemoryError:
            os.write(report, b"none")
        os.read(waits, 1)
        os._exit(0)
    children.append(child)
held = sum(os.read(reports, 4) == b"held" for _ in children)
time.sleep(0.2)
os.close(go)
for child in children:
    os.waitpid(child, 0)
enough = held * share >= 4 * bait["limits"]["memory_mb"]
print("BREACH" if enough else "CONTAINED", held * share, "MB")
