"""Fill every place that can be written with many times the allowed bytes together.

unconfined: no, it would fill places that all programs share
expect: ok output
limits: cpu_s=5 wall_s=60
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
wanted, written = bait["flood"] * bait["limits"]["disk_mb"] + 1, 0.0
places = [".", "/dev/shm", "/dev", "/dev/mqueue", "/run", "/var/tmp", "/tmp"]
seen: set[int] = set()
for place in places:
    if not os.path.isdir(place) or os.stat(place).st_dev in seen:
        continue
    seen.add(os.stat(place).st_dev)
    for number in range(4):
        try:
            with open(f"{place}/fill-{number}", "wb", buffering=0) as file:
                while written < wanted:
                    written += file.write(b"\1" * (1 << 18)) / (1 << 20)
        except OSError as error:
            print(place, error, file=sys.stderr)
print("BREACH" if written >= wanted else "CONTAINED", written, "MB")
