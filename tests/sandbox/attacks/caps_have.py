"""Find a capability in any set of the process, or the right to gain some by exec.

unconfined: safe
"""

import ctypes
import os
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
held = []
header = ctypes.create_string_buffer(struct.pack("II", 0x20080522, 0), 8)
data = ctypes.create_string_buffer(24)
if libc.capget(header, data) or any(data.raw):
    held.append(f"capget {data.raw.hex()}")
try:
    with open("/proc/self/status") as file:
        sets = dict(line.split(":\t", 1) for line in file if line.startswith("Cap"))
    held += [name for name, bits in sets.items() if int(bits, 16) and name != "CapBnd"]
except OSError as error:
    print(error, file=sys.stderr)
if libc.prctl(39, 0, 0, 0, 0) != 1:
    held.append("new privileges")
if 0 in (os.getuid(), os.geteuid(), os.getgid()):
    held.append("user 0")
print("BREACH" if held else "CONTAINED", *held)
