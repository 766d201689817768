"""Run programs that have the setuid bit where it has effect; a changed user proves it.

unconfined: safe
"""

import ctypes
import glob
import os
import stat
import sys

usable = []
locked = ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 1
for path in [
    *glob.glob("/usr/bin/*"),
    *glob.glob("/usr/sbin/*"),
    *glob.glob("/usr/lib/*/*-helper"),
]:
    try:
        status = os.stat(path)
        mounted = os.statvfs(path).f_flag & os.ST_NOSUID
        if status.st_mode & (stat.S_ISUID | stat.S_ISGID) and not mounted and not locked:
            usable.append(path)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if usable else "CONTAINED", *usable[:5])
