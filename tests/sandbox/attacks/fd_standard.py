"""Find out that a standard descriptor is a file, a terminal or a socket of the host.

unconfined: no, the test itself hands on pipes
"""

import os
import stat

bad = []
for number in range(3):
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode) or stat.S_ISSOCK(mode) or stat.S_ISDIR(mode) or os.isatty(number):
        bad.append((number, oct(mode)))
print("BREACH" if bad else "CONTAINED", *bad)
