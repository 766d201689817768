"""Use three times the CPU time that is allowed by children whose time the kernel forgets.

The time of children that end while SIGCHLD is ignored is added to nobody's.

unconfined: safe
limits: cpu_s=0.5 wall_s=60
"""

import json
import os
import signal
import sys
import time

bait = json.loads(sys.stdin.readline())
limit = bait["limits"]["cpu_s"]
try:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
except OSError as error:
    print("CONTAINED", error)
    sys.exit()
reports, report = os.pipe()
used = 0.0
while used < 3 * limit:
    if os.fork() == 0:
        while time.process_time() < limit * 0.3:
            pass
        os.write(report, b"1")
        os._exit(0)
    os.read(reports, 1)
    used += limit * 0.3
print("BREACH", used, "s")
