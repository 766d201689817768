"""Break out of the root by a second chroot; a secret's text proves it.

unconfined: safe
"""

import json
import os
import re
import sys

bait = json.loads(sys.stdin.readline())
found = []
try:
    outside = os.open(".", os.O_RDONLY)
    os.mkdir("jail")
    os.chroot("jail")
    os.fchdir(outside)
    for _ in range(60):
        os.chdir("..")
    os.chroot(".")
    for path in bait["secret_files"]:
        with open(path, "rb") as file:
            found += re.findall(bait["pattern"].encode(), file.read())
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
