"""Spread over cores that the process was not given.

unconfined: safe
"""

import os
import sys

before = os.sched_getaffinity(0)
try:
    os.sched_setaffinity(0, range(1024))
except OSError as error:
    print(error, file=sys.stderr)
gained = os.sched_getaffinity(0) - before
print("BREACH" if gained else "CONTAINED", *gained)
