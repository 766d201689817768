"""Watch the whole file system (fanotify).

unconfined: safe
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if libc.fanotify_init(0, 0) >= 0 or libc.fanotify_init(0x200, 0) >= 0:
    print("BREACH")
else:
    print("CONTAINED", os.strerror(ctypes.get_errno()))
