"""Change, rename, remove, truncate a file of the host that everyone may write, or add one.

Whether it changed is seen from outside.

unconfined: safe
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
path, folder, done = bait["writable_file"], bait["writable_folder"], []
for name, attempt in {
    "append": lambda: os.write(os.open(path, os.O_WRONLY | os.O_APPEND), b"changed"),
    "create": lambda: os.open(f"{folder}/{bait['token']}", os.O_CREAT | os.O_WRONLY, 0o666),
    "mkdir": lambda: os.mkdir(f"{folder}/{bait['token']}-folder"),
    "truncate": lambda: os.truncate(path, 0),
    "rename": lambda: os.rename(path, f"{path}-renamed"),
}.items():
    try:
        attempt()
        done.append(name)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if done else "CONTAINED", *done)
