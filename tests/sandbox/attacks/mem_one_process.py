"""Hold four times the memory that is allowed, in one process.

unconfined: safe
expect: ok memory
limits: cpu_s=10 wall_s=60
"""

import json
import sys

bait = json.loads(sys.stdin.readline())
wanted = 4 * bait["limits"]["memory_mb"]
blocks: list[bytearray] = []
try:
    while len(blocks) * 8 < wanted:
        blocks.append(bytearray(b"\1" * (8 << 20)))
    print("BREACH", len(blocks) * 8, "MB")
except MemoryError:
    print("CONTAINED")
