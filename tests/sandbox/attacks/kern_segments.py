"""Install a segment of 16-bit code (modify_ldt), which has broken kernels before.

unconfined: safe
"""

import ctypes
import os
import platform
import struct

libc = ctypes.CDLL(None, use_errno=True)
if platform.machine() != "x86_64":
    print("ABSENT on this processor")
elif libc.syscall(154, 1, struct.pack("IIII", 0, 0, 0xFFFF, 0x51), 16) == 0:
    print("BREACH")
else:
    print("CONTAINED", os.strerror(ctypes.get_errno()))
