"""Call what administers the machine, with arguments that fail only after the right was checked.

unconfined: safe
"""

import ctypes
import errno
import os
import platform
import sys

libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
clock = ctypes.create_string_buffer(b"\0\x40", 208)  # ADJ_TICK, of a value that cannot be
reached = []
for name, call in {
    "kexec_load": (246 if x86 else 104, 0, 0, None, 0xFFFF),
    "kexec_file_load": (320 if x86 else 294, -1, -1, 0, None, 0xFFFF),
    "init_module": (175 if x86 else 105, b"no module", 9, b""),
    "finit_module": (313 if x86 else 273, -1, b"", 0),
    "delete_module": (176 if x86 else 106, b"raybench-none", os.O_NONBLOCK),
    "reboot": (169 if x86 else 142, 0, 0, 0, None),
    "swapon": (167 if x86 else 224, b"/raybench-none", 0),
    "swapoff": (168 if x86 else 225, b"/raybench-none"),
    "acct": (163 if x86 else 89, b"/raybench-none"),
    "adjtimex": (159 if x86 else 171, clock),
    "quotactl": (179 if x86 else 60, 0x800001 << 8, None, 0, None),
    "syslog": (103 if x86 else 116, 3, ctypes.create_string_buffer(100), 100),
}.items():
    if libc.syscall(*call) >= 0:
        reached.append(name)
    elif ctypes.get_errno() not in {errno.EPERM, errno.EACCES, errno.ENOSYS}:
        reached.append(name + " " + os.strerror(ctypes.get_errno()))
    print(name, os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if reached else "CONTAINED", *reached, sep=", ")
