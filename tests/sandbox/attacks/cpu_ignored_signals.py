"""Use three times the CPU time that is allowed while ignoring every signal that can be ignored.

unconfined: safe
expect: timeout
limits: cpu_s=0.5 wall_s=60
"""

import contextlib
import json
import signal
import sys
import time

bait = json.loads(sys.stdin.readline())
for number in signal.valid_signals():
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
while time.process_time() < 3 * bait["limits"]["cpu_s"]:
    pass
print("BREACH", time.process_time(), "s")
