"""Wait for more input than there is: its end must be seen.

unconfined: no, there is nothing to gain
"""

import sys

sys.stdin.read()
print("CONTAINED")
