"""Switch off the randomness of addresses, or claim to be another system (personality).

unconfined: safe
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if libc.personality(0x0040000) >= 0 and libc.personality(0xFFFFFFFF) & 0x0040000:
    print("BREACH")
else:
    print("CONTAINED", os.strerror(ctypes.get_errno()))
