"""Become another program, which ends badly: its exit code must be reported.

unconfined: no, there is nothing to gain
expect: error
exit_code: 1
"""

import os

os.execv("/bin/false", ["false"])
