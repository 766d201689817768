"""Find a secret of the parent in this process's own memory, all of it (/proc/self/mem).

unconfined: safe
limits: cpu_s=5 wall_s=60
"""

import json
import re
import sys

bait = json.loads(sys.stdin.readline())
found = []
try:
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in maps.readlines():
            begin, end = (int(part, 16) for part in line.split()[0].split("-"))
            if line.split()[1].startswith("r") and "[v" not in line and end - begin < 1 << 27:
                try:
                    memory.seek(begin)
                    found += re.findall(bait["pattern"].encode(), memory.read(end - begin))
                except OSError as error:
                    print(error, file=sys.stderr)
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found[:5])
