"""Lock memory so that the machine cannot page it out: more than 16 MB, or all of it.

unconfined: safe
"""

import ctypes
import mmap
import os

libc = ctypes.CDLL(None, use_errno=True)
block = mmap.mmap(-1, 32 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
address = ctypes.addressof(ctypes.c_char.from_buffer(block))
if libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(32 << 20)) == 0:
    print("BREACH mlock")
elif libc.mlockall(3) == 0:
    print("BREACH mlockall")
else:
    print("CONTAINED", os.strerror(ctypes.get_errno()))
