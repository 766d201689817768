"""Have the kernel hold rules without number that a process makes for itself (Landlock).

unconfined: safe
"""

import ctypes
import os
import struct
import sys

CREATE, ADD, FILES, READ = 444, 445, 1, 4
libc = ctypes.CDLL(None, use_errno=True)
rights = struct.pack("Q", READ)
rules = libc.syscall(ctypes.c_long(CREATE), rights, ctypes.c_size_t(len(rights)), 0)
if rules < 0 and ctypes.get_errno() not in (1, 13):
    print("ABSENT", os.strerror(ctypes.get_errno()))
    sys.exit()
folder = os.open("/usr", os.O_PATH)
rule = struct.pack("=Qi", READ, folder)
made = sum(libc.syscall(ctypes.c_long(ADD), rules, FILES, rule, 0) == 0 for _ in range(1000))
print("BREACH" if made else "CONTAINED", made, "rules")
