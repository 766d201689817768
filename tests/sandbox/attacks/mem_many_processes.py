"""Hold four times the memory that is allowed, in twelve processes, each of them below the limit.

unconfined: safe
expect: ok memory
limits: cpu_s=10 wall_s=60
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
share = bait["limits"]["memory_mb"] * 3 // 8
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
os.close(go)
for child in children:
    os.waitpid(child, 0)
enough = held * share >= 4 * bait["limits"]["memory_mb"]
print("BREACH" if enough else "CONTAINED", held * share, "MB")
