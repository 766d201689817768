"""Make a map of BPF.

unconfined: safe
"""

import ctypes
import os
import platform
import struct

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
settings = ctypes.create_string_buffer(struct.pack("IIIII", 2, 4, 4, 1, 0), 72)
if libc.syscall(number, 0, settings, 72) >= 0:
    print("BREACH")
else:
    print("CONTAINED", os.strerror(ctypes.get_errno()))
