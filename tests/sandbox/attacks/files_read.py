"""Read the host's secret files by their paths; a secret's text proves it.

unconfined: safe
"""

import json
import re
import sys

bait = json.loads(sys.stdin.readline())
found = []
for path in bait["secret_files"]:
    try:
        with open(path, "rb") as file:
            found += re.findall(bait["pattern"].encode(), file.read())
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
