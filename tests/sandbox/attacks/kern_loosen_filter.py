"""Loosen the filter of system calls by one that allows all, or take on a listener to it.

unconfined: safe
"""

import ctypes
import os
import platform
import struct

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 317, "aarch64": 277}[platform.machine()]
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000), 8)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)), 16)
libc.prctl(38, 1, 0, 0, 0)
installed = libc.prctl(22, 2, program, 0, 0) == 0
libc.prctl(22, 0, 0, 0, 0)
libc.prctl(22, 1 << 32, 0, 0, 0)
libc.syscall(number, 1, 8, program)
child = os.fork()
if child == 0:
    os._exit(1 if libc.ptrace(0, 0, None, None) == 0 else 0)
loose = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
print("BREACH" if loose else "CONTAINED", installed)
