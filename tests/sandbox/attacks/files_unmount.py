"""Unmount what hides the host's files, or move to another root (umount2, pivot_root).

unconfined: no, it would unmount the host's folders
"""

import ctypes
import os
import platform
import sys

libc = ctypes.CDLL(None, use_errno=True)
done = []
for path in (b"/proc", b"/dev", b"/tmp", b"/usr", b"/"):
    if libc.umount2(path, 2) == 0:
        done.append(path.decode())
os.mkdir("new")
pivot_root = {"x86_64": 155, "aarch64": 41}[platform.machine()]
if libc.syscall(pivot_root, b"new", b"new") == 0 or libc.syscall(pivot_root, b".", b".") == 0:
    done.append("pivot_root")
print(os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if done else "CONTAINED", *done)
