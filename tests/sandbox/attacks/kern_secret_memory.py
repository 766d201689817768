"""Hold memory that even the kernel cannot see (memfd_secret).

unconfined: safe
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
file = libc.syscall(447, 0)
if file >= 0:
    print("BREACH")
else:
    name = os.strerror(ctypes.get_errno())
    print("ABSENT" if ctypes.get_errno() == 38 else "CONTAINED", name)
