"""Find that a standard descriptor is a file, a terminal or a socket of the host, or can be changed.

unconfined: no, the test itself hands on pipes
"""

import os
import stat

bad = []
for number in range(3):
    status = os.fstat(number)
    mode = status.st_mode
    if number == 0 and stat.S_ISREG(mode) and status.st_nlink == 0:
        # Input is a file of no file system; it must not grow into memory that nobody counts.
        try:
            again = os.open("/proc/self/fd/0", os.O_RDWR)
            os.pwrite(again, b"x" * 4096, status.st_size)
            bad.append("grew")
        except OSError:
            continue
    if stat.S_ISREG(mode) or stat.S_ISSOCK(mode) or stat.S_ISDIR(mode) or os.isatty(number):
        bad.append(f"{number} {oct(mode)}")
print("BREACH" if bad else "CONTAINED", *bad)
