"""Find a descriptor beyond the three standard ones; one that is open proves it.

unconfined: safe
"""

import json
import os
import stat
import sys

numbers = []
for number in [*range(3, 4096), *range(65_000, 65_536)]:
    try:
        numbers.append((number, oct(stat.S_IFMT(os.fstat(number).st_mode))))
    except OSError:
        pass
bait = json.loads(sys.stdin.readline())
print("BREACH" if numbers else "CONTAINED", *numbers)
for number in (bait["secret_descriptor"],):
    try:
        print(os.pread(number, 100, 0))
    except OSError as error:
        print(error, file=sys.stderr)
