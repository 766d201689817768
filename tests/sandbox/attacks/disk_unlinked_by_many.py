"""Hold large files that have no name any more, in several processes.

unconfined: safe
expect: ok output
limits: cpu_s=10 wall_s=60
"""

import json
import os
import sys
import time

bait = json.loads(sys.stdin.readline())
wanted = 32 * bait["limits"]["disk_mb"]
reports, report = os.pipe()
waits, go = os.pipe()
children = 4
for child in range(children):
    if os.fork() == 0:
        os.close(go)
        kept, written = [], 0
        try:
            for number in range(20):
                name = f"{child}-{number}"
                kept.append(os.open(name, os.O_CREAT | os.O_RDWR))
                os.unlink(name)
                for _ in range(bait["limits"]["disk_mb"]):
                    written += os.write(kept[-1], b"\1" * (1 << 20))
        except OSError:
            pass
        os.write(report, b"%8d" % (written >> 20))
        os.read(waits, 1)
        os._exit(0)
held = sum(int(os.read(reports, 8)) for _ in range(children))
time.sleep(0.5)
print("BREACH" if held >= wanted else "CONTAINED", held, "MB")
