"""Learn what happens in the host's folders without opening any.

unconfined: safe
"""

import ctypes
import json
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
print("BREACH" if found else "CONTAINED", *found)
