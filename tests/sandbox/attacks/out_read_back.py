"""Read the own output back, or write to the own input, through /proc/self/fd.

What others write there would be stolen; reading nothing and ending well is right.

unconfined: no, there is nothing to gain
"""

import os
import sys

for number, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
    try:
        descriptor = os.open(f"/proc/self/fd/{number}", flags | os.O_NONBLOCK)
        if flags == os.O_WRONLY:
            os.write(descriptor, b"more")
        else:
            os.read(descriptor, 100)
    except OSError as error:
        print(error, file=sys.stderr)
print("CONTAINED")
