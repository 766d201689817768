"""Leave a file in every place that can be written; the next run looks for it.

unconfined: safe
runs: 3
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
home = os.path.expanduser("~")
places = [
    ".",
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/dev",
    "/dev/mqueue",
    "/run",
    "/var/lock",
    "/",
    home,
]
places += [os.path.dirname(os.__file__), "/usr/lib", "/proc", "/sys"]
paths = [f"{folder}/{bait['token']}" for folder in places]
found = [path for path in paths if os.path.exists(path)]
for path in paths:
    try:
        with open(path, "w") as file:
            file.write("left here")
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
