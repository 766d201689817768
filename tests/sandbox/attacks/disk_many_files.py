"""Make many times the allowed files.

unconfined: safe
expect: ok output
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
wanted, made = bait["flood"] * bait["limits"]["files"], 0
try:
    os.mkdir("many")
    while made < wanted:
        open(f"many/{made}", "w").close()
        made += 1
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if made >= wanted else "CONTAINED", made)
