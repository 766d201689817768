"""Kill everything that can be killed; the victim sees it.

unconfined: no, it kills what else the user runs
"""

import json
import os
import signal
import sys

bait = json.loads(sys.stdin.readline())
try:
    os.kill(bait["victim"], 0)
    print("BREACH the victim can be signalled, nothing more was tried")
    sys.exit()
except OSError as error:
    print(error, file=sys.stderr)
try:
    os.kill(-1, signal.SIGKILL)
except OSError as error:
    print(error, file=sys.stderr)
print("CONTAINED unless seen from outside")
