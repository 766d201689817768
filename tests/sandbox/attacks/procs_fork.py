"""Have more than four times the allowed processes at once, by fork.

unconfined: safe
"""

import json
import os
import signal
import sys

bait = json.loads(sys.stdin.readline())
wanted = 4 * bait["limits"]["processes"]
children: list[int] = []
try:
    while len(children) < wanted:
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
except OSError as error:
    print(error, file=sys.stderr)
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print("BREACH" if len(children) >= wanted else "CONTAINED", len(children))
