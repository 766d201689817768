"""Have the kernel hold memory for this process's locks: more than it may have itself.

unconfined: safe
"""

import ctypes
import os
import sys

SET_SLOTS, GET_SLOTS, FUTEX_HASH, SLOTS = 1, 2, 78, 1 << 22
since = (6, 16)
release = tuple(int(part) for part in os.uname().release.split(".")[:2])
if release < since:
    print("ABSENT before Linux", *since)
    sys.exit()
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(FUTEX_HASH, SET_SLOTS, SLOTS, 0, 0)
slots = libc.prctl(FUTEX_HASH, GET_SLOTS, 0, 0, 0)
print("BREACH" if slots >= SLOTS else "CONTAINED", slots, "slots of 64 bytes")
