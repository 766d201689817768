"""Call the kernel by its 32-bit interface (int 0x80), whose numbers a filter may not know.

unconfined: safe
"""

import ctypes
import mmap
import os
import platform
import sys

if platform.machine() != "x86_64":
    print("ABSENT on this processor")
    sys.exit()
child = os.fork()
if child == 0:
    try:
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        os._exit(0)
    # push rbx; mov eax, 20 (getpid); int 0x80; pop rbx; ret
    code.write(b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    os._exit(1 if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid() else 2)
result = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print({1: "BREACH", -11: "ABSENT"}.get(result, "CONTAINED"), result)
