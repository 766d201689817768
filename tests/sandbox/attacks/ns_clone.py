"""Start a process in new namespaces (clone, clone3).

unconfined: safe
"""

import ctypes
import os
import platform
import signal
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
flags = [0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x4000000, 0x2000000]
entered = []
for flag in [*flags, 0x7E020000]:
    for together in {flag, flag | 0x10000000}:
        arguments = struct.pack("11Q", together, 0, 0, 0, signal.SIGCHLD, *[0] * 6)
        for name, call in {
            "clone": (clone, together | signal.SIGCHLD, 0, 0, 0, 0),
            "clone3": (435, ctypes.create_string_buffer(arguments, 88), 88),
        }.items():
            child = libc.syscall(*call)
            if child == 0:
                os._exit(0)
            if child > 0:
                os.waitpid(child, 0)
                entered.append((name, hex(together)))
            else:
                print(name, os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if entered else "CONTAINED", *entered)
