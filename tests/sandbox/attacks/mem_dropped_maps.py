"""Hold four times the memory that is allowed in shared maps that were touched, then dropped.

Dropped pages of a shared map count in no process's resident memory, but are still there.

unconfined: safe
expect: ok memory
limits: cpu_s=10 wall_s=60
"""

import json
import mmap
import os
import sys

bait = json.loads(sys.stdin.readline())
share = bait["limits"]["memory_mb"] * 3 // 8 << 20
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
        held = 0
        try:
            blocks = []
            for _ in range(share >> 23):
                blocks.append(mmap.mmap(-1, 1 << 23))  # shared, of no file
                blocks[-1].write(b"\1" * (1 << 23))
                blocks[-1].madvise(mmap.MADV_DONTNEED)
            os.write(report, b"done")
            os.read(waits, 1)
            held = sum(block[position] for block in blocks for position in range(0, 1 << 23, 4096))
        except (OSError, MemoryError):
            os.write(report, b"none")
            os.read(waits, 1)
        os.write(report, b"%8d" % held)
        os._exit(0)
    children.append(child)
for _ in children:
    os.read(reports, 4)
os.close(go)
pages = sum(int(os.read(reports, 8)) for _ in children)
enough = pages >= 4 * bait["limits"]["memory_mb"] * 256 * 0.95
print("BREACH" if enough else "CONTAINED", pages // 256, "MB")
