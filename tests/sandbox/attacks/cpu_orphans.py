"""Use three times the CPU time that is allowed by orphans, whose time no parent is charged.

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
reports, report = os.pipe()
for _ in range(8):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            while time.process_time() < limit * 0.6:
                pass
            os.write(report, b"1")
        os._exit(0)
    os.wait()
used = sum(len(os.read(reports, 1)) for _ in range(8)) * limit * 0.6
print("BREACH" if used > 3 * limit else "CONTAINED", used, "s")
