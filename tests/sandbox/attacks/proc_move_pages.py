"""Move another process's memory about (move_pages, migrate_pages, process_madvise).

unconfined: no, it needs more than one memory node to show
"""

import ctypes
import json
import os
import platform
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
move, migrate = {"x86_64": (279, 256), "aarch64": (239, 238)}[platform.machine()]
pages = (ctypes.c_size_t * 1)(bait["victim_address"] & ~4095)
status = (ctypes.c_int * 1)()
nodes = (ctypes.c_ulong * 1)(1)
done = []
for name, result in {
    "move_pages": libc.syscall(move, bait["victim"], 1, pages, None, status, 0),
    "migrate_pages": libc.syscall(migrate, bait["victim"], 2, nodes, nodes),
    "process_madvise": libc.syscall(440, libc.syscall(434, bait["victim"], 0), None, 0, 20, 0),
}.items():
    if result >= 0:
        done.append(name)
print(os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if done else "CONTAINED", *done)
