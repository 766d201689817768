"""Make read-only mounts writable again, by mount and by mount_setattr, then open them for writing.

unconfined: no, it would change the host's own mounts
"""

import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
REMOUNT, BIND = 32, 4096
writable = []
for path in (b"/", b"/usr", b"/lib", b"/proc", b"/dev", os.path.dirname(os.__file__).encode()):
    attributes = (ctypes.c_uint64 * 4)(0, 1, 0, 0)  # clear read-only
    done = [
        libc.mount(None, path, None, REMOUNT | BIND, None),
        libc.mount(None, path, None, REMOUNT, None),
        libc.syscall(442, -100, path, 0, attributes, 32),
    ]
    if 0 in done:
        writable.append(path.decode())
    else:
        print(path, os.strerror(ctypes.get_errno()), file=sys.stderr)
for folder in ("/", "/usr", "/lib", os.path.dirname(os.__file__)):
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR))
        writable.append(folder)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if writable else "CONTAINED", *writable)
