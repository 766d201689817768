"""Fill a folder that nobody may list.

unconfined: safe
expect: ok output
limits: cpu_s=10 wall_s=60
"""

import json
import os
import sys
import time

bait = json.loads(sys.stdin.readline())
wanted, written = 32 * bait["limits"]["disk_mb"], 0
os.mkdir("hidden")
os.chmod("hidden", 0o300)
try:
    for number in range(wanted):
        with open(f"hidden/{number}", "wb", buffering=0) as file:
            written += file.write(b"\1" * (1 << 20)) >> 20
        time.sleep(0.001)
except OSError as error:
    print(error, file=sys.stderr)
time.sleep(0.3)
print("BREACH" if written >= wanted else "CONTAINED", written, "MB")
