"""Write into another process's memory (process_vm_writev); the victim sees it.

unconfined: safe
"""

import ctypes
import json
import os
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(b"changed", 8)
local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
remote = (ctypes.c_size_t * 2)(bait["victim_scratch"], 8)
if libc.process_vm_writev(bait["victim"], local, 1, remote, 1, 0) > 0:
    print("BREACH")
else:
    print("CONTAINED", os.strerror(ctypes.get_errno()))
