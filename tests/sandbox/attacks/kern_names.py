"""Rename the host and its domain; it is compared from outside.

unconfined: no, it changes the host's name
"""

import ctypes
import json
import os
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
name = bait["token"].encode()
done = [libc.sethostname(name, len(name)), libc.setdomainname(name, len(name))]
print("BREACH" if 0 in done else "CONTAINED", os.strerror(ctypes.get_errno()))
