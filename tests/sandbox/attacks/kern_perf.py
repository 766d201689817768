"""Open a counter of the kernel (perf_event_open).

unconfined: safe
"""

import ctypes
import os
import platform
import struct

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
flags = 1 | 1 << 5 | 1 << 6  # disabled, no kernel, no hypervisor
counter = ctypes.create_string_buffer(struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, flags), 112)
if libc.syscall(number, counter, 0, -1, -1, 0) >= 0:
    print("BREACH")
else:
    print("CONTAINED", os.strerror(ctypes.get_errno()))
