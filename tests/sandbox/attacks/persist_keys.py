"""Leave a key in each keyring of the kernel; the next run looks for it.

unconfined: safe
runs: 3
"""

import ctypes
import json
import os
import platform
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
add_key, keyctl = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
name, found = bait["token"].encode(), []
for ring in (-3, -4, -5):  # of the session, the user, the user's session
    if libc.syscall(keyctl, 10, ring, b"user", name, 0) >= 0:
        found.append(ring)
    libc.syscall(add_key, b"user", name, b"left here", 9, ring)
print(os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
