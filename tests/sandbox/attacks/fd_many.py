"""Hold more than four times the descriptors that are allowed, and raise the limit for it.

unconfined: safe
"""

import json
import os
import resource
import sys

bait = json.loads(sys.stdin.readline())
wanted = 4 * bait["limits"]["descriptors"]
try:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 19, 1 << 19))
except (OSError, ValueError) as error:
    print(error, file=sys.stderr)
held: list[int] = []
try:
    while len(held) < wanted:
        held.append(os.dup(1))
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if len(held) >= wanted else "CONTAINED", len(held))
