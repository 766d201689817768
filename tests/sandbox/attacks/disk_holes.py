"""Fill the holes of a sparse file through a memory map with many times the allowed bytes.

unconfined: safe
expect: ok output error memory
"""

import json
import mmap
import os
import sys

bait = json.loads(sys.stdin.readline())
wanted = bait["flood"] * bait["limits"]["disk_mb"]
reports, report = os.pipe()
for number in range(4):
    if os.fork() == 0:
        try:
            file = os.open(f"sparse-{number}", os.O_CREAT | os.O_RDWR)
            os.ftruncate(file, wanted << 18)
            with mmap.mmap(file, wanted << 18) as block:
                for position in range(0, wanted << 18, 1 << 20):
                    block[position : position + (1 << 20)] = b"\1" * (1 << 20)
                    os.write(report, b"1")
        except OSError as error:
            print(error, file=sys.stderr)
        os._exit(0)
for _ in range(4):
    os.wait()
os.close(report)
filled = len(os.read(reports, 1 << 16))
print("BREACH" if filled >= wanted else "CONTAINED", filled, "MB")
