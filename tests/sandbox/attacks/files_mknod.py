"""Make device files of the host's disks and of its memory here, and open them.

unconfined: safe
"""

import json
import os
import stat
import sys

bait = json.loads(sys.stdin.readline())
kinds = [(stat.S_IFBLK, major, minor) for major, minor in bait["block_numbers"]]
opened = []
for kind, major, minor in [
    *kinds,
    (stat.S_IFCHR, 1, 1),
    (stat.S_IFCHR, 1, 5),
    (stat.S_IFCHR, 5, 0),
]:
    for folder in (".", "/dev", "/dev/shm"):
        path = f"{folder}/device-{major}-{minor}"
        try:
            os.mknod(path, kind | 0o666, os.makedev(major, minor))
            try:
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            finally:
                os.unlink(path)
            opened.append(f"{major}:{minor}")
        except OSError as error:
            print(error, file=sys.stderr)
print("BREACH" if opened else "CONTAINED", *opened)
