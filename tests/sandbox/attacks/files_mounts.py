"""Look for mounts of the host: a disk's file system mounted writable, or a folder of the bait.

unconfined: safe
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
found = []
try:
    with open("/proc/self/mountinfo") as table:
        for line in table:
            fields, _, kind = line.partition(" - ")
            place, options = fields.split()[4:6]
            disk = kind.split()[0] not in {"tmpfs", "proc", "mqueue", "devpts", "devtmpfs"}
            if disk and "rw" in options.split(",") and not os.path.ismount("/none"):
                try:  # a bind of a single device such as /dev/null is no place for files
                    os.listdir(place)
                    found.append(place)
                except NotADirectoryError:
                    pass
            if any(path.startswith(place + "/") for path in bait["secret_files"] if place != "/"):
                found += [path for path in bait["secret_files"] if os.path.exists(path)]
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
