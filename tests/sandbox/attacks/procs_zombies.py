"""Have more than four times the allowed processes as zombies, which nobody waits for.

unconfined: safe
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
wanted, made = 4 * bait["limits"]["processes"], 0
try:
    while made < wanted:
        if os.fork() == 0:
            os._exit(0)
        made += 1
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if made >= wanted else "CONTAINED", made)
