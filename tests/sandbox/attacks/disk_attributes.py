"""Hold many times the allowed bytes in extended attributes of files.

unconfined: no, the disk of the host caps them
expect: ok output
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
wanted, written = bait["flood"] * bait["limits"]["disk_mb"] << 20, 0
for number in range(100):
    try:
        open(f"file-{number}", "w").close()
        for attribute in range(100):
            if written < wanted:
                os.setxattr(f"file-{number}", f"user.a{attribute}", b"\1" * 60_000)
                written += 60_000
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if written >= wanted else "CONTAINED", written >> 20, "MB")
