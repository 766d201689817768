"""Write many times the allowed bytes into one file, and into several.

unconfined: safe
expect: ok output
"""

import json
import sys

bait = json.loads(sys.stdin.readline())
wanted, written = bait["flood"] * bait["limits"]["disk_mb"], 0
for number in range(4):
    try:
        with open(f"big-{number}", "wb", buffering=0) as file:
            while written < wanted:
                written += file.write(b"\1" * (1 << 20)) >> 20
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if written >= wanted else "CONTAINED", written, "MB")
