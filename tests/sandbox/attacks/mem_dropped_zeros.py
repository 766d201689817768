"""Hold four times the memory that is allowed in shared maps of /dev/zero, touched, then dropped.

unconfined: safe
expect: ok memory
limits: cpu_s=10 wall_s=60
"""

import json
import mmap
import os
import sys

bait = json.loads(sys.stdin.readline())
wanted = 4 * bait["limits"]["memory_mb"]
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
        blocks = []
        try:
            zero = os.open("/dev/zero", os.O_RDWR)
            for _ in range(wanted // 12 // 8 + 1):
                block = mmap.mmap(zero, 1 << 23)
                block.write(b"\1" * (1 << 23))
                block.madvise(mmap.MADV_DONTNEED)
                blocks.append(block)
        except (OSError, MemoryError, ValueError) as error:
            print(error, file=sys.stderr)
        os.write(report, b"%4d" % sum(block[-1] for block in blocks))
        os.read(waits, 1)
        os._exit(0)
    children.append(child)
held = sum(int(os.read(reports, 4)) for _ in children) * 8
os.close(go)
for child in children:
    os.waitpid(child, 0)
print("BREACH" if held >= wanted else "CONTAINED", held, "MB")
