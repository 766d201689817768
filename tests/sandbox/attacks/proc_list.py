"""Find processes of the host, by their names in /proc.

unconfined: safe
"""

import json
import sys

bait = json.loads(sys.stdin.readline())
found = []
for pid in bait["host_pids"]:
    # Small numbers exist in a namespace of its own as well: these are told by their names.
    try:
        with open(f"/proc/{pid}/comm") as file:
            if file.read().strip() in bait["host_names"]:
                found.append(pid)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
