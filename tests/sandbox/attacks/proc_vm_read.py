"""Read another process's memory (process_vm_readv); a secret's text proves it.

unconfined: safe
"""

import ctypes
import json
import os
import re
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(64)
found = []
for pid in (bait["victim"], os.getppid(), 1):
    local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 64)
    remote = (ctypes.c_size_t * 2)(bait["victim_address"], 64)
    if libc.process_vm_readv(pid, local, 1, remote, 1, 0) > 0:
        found += re.findall(bait["pattern"].encode(), buffer.raw)
    print(pid, os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
