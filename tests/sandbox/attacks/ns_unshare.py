"""Enter new namespaces of every kind (unshare), with a user namespace before all.

unconfined: safe
"""

import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
kinds = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000}
kinds |= {"ipc": 0x8000000, "uts": 0x4000000, "cgroup": 0x2000000, "time": 0x80}
reports, report = os.pipe()
for name, flag in kinds.items():
    for together in (flag, flag | kinds["user"]):
        if os.fork() == 0:
            if libc.unshare(together) == 0:
                os.write(report, name.encode() + b" ")
            else:
                print(name, os.strerror(ctypes.get_errno()), file=sys.stderr)
            os._exit(0)
        os.wait()
os.close(report)
entered = os.read(reports, 1000).decode()
print("BREACH" if entered else "CONTAINED", entered)
