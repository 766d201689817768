"""Hold memory in message queues and semaphores of the kernel; one that was made proves it.

unconfined: safe
"""

import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
made = []
for name, make, remove in (
    ("shm", lambda: libc.shmget(0, 1 << 20, 0o1600), lambda it: libc.shmctl(it, 0, None)),
    ("msg", lambda: libc.msgget(0, 0o1600), lambda it: libc.msgctl(it, 0, None)),
    ("sem", lambda: libc.semget(0, 1000, 0o1600), lambda it: libc.semctl(it, 0, 0, 0)),
):
    number = make()
    if number >= 0:
        made.append(name)
        remove(number)
    else:
        print(name, os.strerror(ctypes.get_errno()), file=sys.stderr)
print("BREACH" if made else "CONTAINED", *made)
