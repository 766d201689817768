"""Nest many times the allowed folders, deeper than any path may be long.

unconfined: safe
expect: ok output
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
wanted, depth = bait["flood"] * bait["limits"]["files"], 0
try:
    while depth < wanted:
        os.mkdir("d" * 100)
        os.chdir("d" * 100)
        depth += 1
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if depth >= wanted else "CONTAINED", depth)
