"""Set up io_uring, which does files and sockets past the filter of system calls.

unconfined: safe
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(425, 8, ctypes.create_string_buffer(120)) >= 0:
    print("BREACH")
else:
    print("CONTAINED", os.strerror(ctypes.get_errno()))
