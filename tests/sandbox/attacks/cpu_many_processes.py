"""Use three times the CPU time that is allowed by eight processes, each of them below it.

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
children = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        while time.process_time() < limit * 0.6:
            pass
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
used = os.times().children_user + os.times().children_system
print("BREACH" if used > 3 * limit else "CONTAINED", used, "s")
