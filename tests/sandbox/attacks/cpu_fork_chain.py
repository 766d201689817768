"""Use three times the CPU time that is allowed by a chain of processes, each of them below it.

unconfined: safe
expect: timeout
limits: cpu_s=0.5 wall_s=60
"""

import json
import os
import sys
import time

bait = json.loads(sys.stdin.readline())
limit = bait["limits"]["cpu_s"]
begin = os.getpid()
for _ in range(6):
    while time.process_time() < limit * 0.6:
        pass
    child = os.fork()
    if child:
        if os.getpid() == begin:
            os.waitpid(child, 0)
            time.sleep(limit * 4)
        os._exit(0)
print("BREACH", 6 * 0.6 * limit, "s", flush=True)
