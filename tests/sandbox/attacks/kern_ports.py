"""Reach the hardware's ports (iopl, ioperm).

unconfined: safe
"""

import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
if platform.machine() != "x86_64":
    print("ABSENT on this processor")
elif libc.syscall(172, 3) == 0 or libc.syscall(173, 0x80, 1, 1) == 0:
    print("BREACH")
else:
    absent = ctypes.get_errno() == 38
    print("ABSENT" if absent else "CONTAINED", os.strerror(ctypes.get_errno()))
