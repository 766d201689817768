"""Type into a terminal with a request whose upper half is set, which a filter may compare.

unconfined: safe
"""

import ctypes
import fcntl
import os
import platform
import sys

libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 16, "aarch64": 29}[platform.machine()]
typed = []
terminals = [0]
try:
    terminals.append(os.openpty()[1])
    if os.fork():
        os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
    os.setsid()
    fcntl.ioctl(terminals[-1], 0x540E, 0)
except OSError as error:
    print(error, file=sys.stderr)
for terminal in terminals:
    for high in (0, 1 << 32, 0xFFFFFFFF << 32):
        request = ctypes.c_ulong(0x5412 | high)
        if libc.syscall(number, terminal, request, ctypes.c_char_p(b"x")) == 0:
            typed.append(hex(high))
        else:
            print(os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if typed else "CONTAINED", *typed)
