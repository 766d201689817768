"""Mount file systems and folders, by the old call and by the new ones.

unconfined: safe
"""

import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
os.mkdir("place")
done = []
for kind, source, flags in (
    (b"tmpfs", b"none", 0),
    (b"proc", b"none", 0),
    (b"sysfs", b"none", 0),
    (b"mqueue", b"none", 0),
    (None, b"/", 4096 | 16384),
):
    if libc.mount(source, b"place", kind, flags, None) == 0:
        done.append(str(kind or source))
        libc.umount2(b"place", 2)
    else:
        print(kind, os.strerror(ctypes.get_errno()), file=sys.stderr)
for number, arguments in {
    430: (b"tmpfs", 0),
    428: (-100, b"/", 1 | 0x8000),
    433: (-100, b"/", 0),
}.items():
    if libc.syscall(number, *arguments) >= 0:
        done.append(str(number))
    else:
        print(number, os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if done else "CONTAINED", *done)
