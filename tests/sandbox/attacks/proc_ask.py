"""Learn from the kernel that a process of the host exists, and how it is scheduled.

unconfined: safe
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
found = []
for call in (os.getpgid, os.getsid, os.sched_getaffinity, os.sched_getscheduler):
    try:
        call(bait["victim"])
        found.append(call.__name__)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
