"""Call the kernel by the numbers of the x32 interface, which a filter may not know.

unconfined: safe
"""

import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    if platform.machine() == "x86_64" and libc.syscall(0x40000000 + 39) == os.getpid():
        os._exit(1)
    os._exit(2 if ctypes.get_errno() == 38 else 0)
result = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print({1: "BREACH", 2: "ABSENT"}.get(result, "CONTAINED"), result)
