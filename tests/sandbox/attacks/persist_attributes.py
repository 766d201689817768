"""Leave a word on the user's own files, in an attribute, and find what an earlier run left.

unconfined: no, it would leave it
runs: 2
"""

import json
import os
import sys

nonce = json.loads(sys.stdin.readline())["nonces"]["input"]
found = []
for path in (sys.executable, os.__file__, "/tmp", "/dev/shm", os.path.expanduser("~"), "/"):
    try:
        found.append(os.getxattr(path, "user.raybench_word").decode())
    except OSError as error:
        print(error, file=sys.stderr)
    try:
        os.setxattr(path, "user.raybench_word", nonce.encode())
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
