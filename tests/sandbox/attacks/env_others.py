"""Find a secret in the environment or the command line of any process in /proc.

unconfined: safe
"""

import json
import os
import re
import sys

bait = json.loads(sys.stdin.readline())
found = []
try:
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
except OSError as error:
    pids = [str(error)]
for pid in {"1", "self", str(os.getppid()), str(bait["victim"]), *pids}:
    for name in ("environ", "cmdline"):
        try:
            with open(f"/proc/{pid}/{name}", errors="replace") as file:
                found += re.findall(bait["pattern"], file.read())
        except OSError as error:
            print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found[:5])
