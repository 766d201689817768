"""Hold many times the allowed bytes in files of which nothing is left but a page in memory.

unconfined: safe
expect: ok output
limits: wall_s=60
"""

import ctypes
import json
import mmap
import os
import sys
import time

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
each = bait["limits"]["disk_mb"] - 1
wanted, written = bait["flood"] * bait["limits"]["disk_mb"], 0
try:
    while written < wanted:
        file = os.open("block", os.O_RDWR | os.O_CREAT)
        for _ in range(each):
            written += os.write(file, b"\1" * (1 << 20)) >> 20
        size, offset = ctypes.c_size_t(mmap.PAGESIZE), ctypes.c_long(0)
        if libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file, offset) is None:
            raise OSError(ctypes.get_errno(), "mmap")
        os.unlink("block")
        os.close(file)
        time.sleep(0.1)
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if written >= wanted else "CONTAINED", written, "MB")
