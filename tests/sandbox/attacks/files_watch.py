"""Learn what happens in the host's folders without opening any.

unconfined: safe
"""

import ctypes
import fcntl
import json
import os
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
watch = libc.inotify_init()
every = 0xFFF
found = [
    path
    for path in (bait["writable_folder"], bait["home"], "/home", "/root", "/etc")
    if libc.inotify_add_watch(watch, path.encode(), every) >= 0
]
# An older way watches a folder that may be opened, as those of the system.
for path in (bait["home"], "/usr", "/usr/lib", "/usr/bin"):
    try:
        fcntl.fcntl(os.open(path, os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_CREATE)
        found.append(path)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
