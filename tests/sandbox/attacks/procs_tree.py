"""Have more than four times the allowed processes as a tree of sessions that ignore signals.

unconfined: safe
expect: ok timeout
"""

import contextlib
import json
import os
import signal
import sys
import time

bait = json.loads(sys.stdin.readline())
for number in signal.valid_signals():
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
reports, report = os.pipe()
wanted = 4 * bait["limits"]["processes"]
first = os.getpid()
for _ in range(wanted.bit_length()):
    try:
        os.fork()
    except OSError:
        break
if os.getpid() != first:
    os.setsid()
    os.write(report, b"1")
    time.sleep(1)
    os._exit(0)
os.close(report)
time.sleep(0.5)
alive = len(os.read(reports, 1 << 16))
print("BREACH" if alive >= wanted else "CONTAINED", alive)
