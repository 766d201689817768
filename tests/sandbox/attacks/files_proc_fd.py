"""Read what other processes hold open, through /proc/PID/fd; a secret's text proves it.

unconfined: safe
"""

import json
import os
import re
import stat
import sys

bait = json.loads(sys.stdin.readline())
found = []
try:
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
except OSError as error:
    pids = [str(error)]
for pid in {"1", str(os.getppid()), str(bait["victim"]), *pids}:
    for number in range(64):
        try:
            path = f"/proc/{pid}/fd/{number}"
            if stat.S_ISREG(os.stat(path).st_mode):
                with open(path, "rb") as file:
                    found += re.findall(bait["pattern"].encode(), file.read(4096))
        except OSError as error:
            print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found[:5])
