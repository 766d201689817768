"""Search every folder that can be listed for the bait's names; a name that was found proves it.

unconfined: safe
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
found = []
for folder in ["/", "/tmp", "/var/tmp", "/home", "/root", "/mnt", "/run", "/.old", bait["home"]]:
    for root, folders, files in os.walk(folder):
        depth = root.rstrip("/").count("/") - folder.rstrip("/").count("/")
        if depth >= 2 or root.split("/")[1] in {"proc", "sys", "usr", "dev"}:
            folders.clear()
        found += [os.path.join(root, name) for name in folders + files if bait["mark"] in name]
print("BREACH" if found else "CONTAINED", *found[:5])
