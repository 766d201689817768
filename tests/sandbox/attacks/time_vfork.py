"""Wait without end for a child that shares the memory (vfork): it sleeps deeper than usual.

unconfined: no, there is nothing to gain
expect: timeout
limits: wall_s=0.4
"""

import ctypes
import platform

libc = ctypes.CDLL(None)
libc.syscall({"x86_64": 58, "aarch64": 220}[platform.machine()], 0x4111, 0, 0, 0, 0)
while True:
    libc.pause()
