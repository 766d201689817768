"""Close all standard descriptors and end well.

unconfined: no, there is nothing to gain
"""

import os

os.write(1, b"CONTAINED\n")
for number in range(3):
    os.close(number)
