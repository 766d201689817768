"""Change the mode and the times of a file of the host.

Whether they changed is seen from outside.

unconfined: safe
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
path, done = bait["writable_file"], []
for name, attempt in {
    "utime": lambda: os.utime(path),
    "chmod": lambda: os.chmod(path, 0o777),
}.items():
    try:
        attempt()
        done.append(name)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if done else "CONTAINED", *done)
