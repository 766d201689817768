"""Die of a wrong address: the signal must be reported.

unconfined: no, there is nothing to gain
expect: error
signal: 11
"""

import ctypes

ctypes.string_at(0)
