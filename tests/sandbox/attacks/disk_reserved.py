"""Reserve many times the allowed bytes without writing them (fallocate).

unconfined: safe
expect: ok output
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
wanted, reserved = bait["flood"] * bait["limits"]["disk_mb"], 0
for number in range(8):
    try:
        file = os.open(f"reserved-{number}", os.O_CREAT | os.O_RDWR)
        os.posix_fallocate(file, 0, wanted << 17)
        reserved += os.fstat(file).st_blocks // 2048
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if reserved >= wanted else "CONTAINED", reserved, "MB")
