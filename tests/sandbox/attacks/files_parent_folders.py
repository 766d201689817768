"""Climb out of the root by .. in many forms; a secret's text proves it.

unconfined: safe
"""

import json
import os
import re
import sys

bait = json.loads(sys.stdin.readline())
found = []
starts = [".", "/", "/tmp", "/proc/self/cwd", "/proc/self/root", "/dev/fd", "/proc/1/cwd", "/usr"]
for path in bait["secret_files"]:
    for start in starts:
        try:
            folder = os.open(start, os.O_RDONLY | os.O_DIRECTORY)
            os.chdir(start)
            target = "../" * 40 + path.lstrip("/")
            with open(os.open(target, os.O_RDONLY, dir_fd=folder), "rb") as file:
                found += re.findall(bait["pattern"].encode(), file.read())
        except OSError as error:
            print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found[:5])
