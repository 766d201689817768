"""Read files that tell of the host: password hashes, its id, its names, the repository's tests.

unconfined: safe
"""

import json
import sys

bait = json.loads(sys.stdin.readline())
found = []
for path in [
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/machine-id",
    "/etc/hostname",
    "/etc/ssh/sshd_config",
    "/root/.bashrc",
    "/var/log/dpkg.log",
    *bait["own_files"],
]:
    try:
        with open(path, "rb") as file:
            if file.read(1):
                found.append(path)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
