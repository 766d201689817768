"""Handle page faults (userfaultfd): it holds the kernel still at will.

unconfined: safe
"""

import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 323, "aarch64": 282}[platform.machine()]
if libc.syscall(number, 1) >= 0 or libc.syscall(number, 0) >= 0:
    print("BREACH")
else:
    print("CONTAINED", os.strerror(ctypes.get_errno()))
