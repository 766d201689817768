"""Hold many times the allowed bytes in files that have no name any more.

unconfined: safe
expect: ok output
"""

import json
import sys
import tempfile

bait = json.loads(sys.stdin.readline())
wanted, written, held = bait["flood"] * bait["limits"]["disk_mb"], 0, []
try:
    while written < wanted:
        file = tempfile.TemporaryFile(buffering=0)
        held.append(file)
        written += file.write(b"\1" * (1 << 20)) >> 20
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if written >= wanted else "CONTAINED", written, "MB")
