"""Be traced by the own parent, and trace an own child (ptrace).

unconfined: safe
"""

import ctypes
import os
import signal

libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    signal.pause()
seized = libc.ptrace(0x4206, child, None, None) == 0
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
traced = os.fork()
if traced == 0:
    os._exit(1 if libc.ptrace(0, 0, None, None) == 0 else 0)
asked = os.waitstatus_to_exitcode(os.waitpid(traced, 0)[1]) == 1
print("BREACH" if seized or asked else "CONTAINED", seized, asked)
