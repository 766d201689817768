"""Find a secret in the environment: os.environ, the C library's, /proc/self/environ.

unconfined: safe
"""

import ctypes
import json
import os
import re
import sys

bait = json.loads(sys.stdin.readline())
texts = [repr(os.environ), repr(os.environb)]
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
for index in range(10_000):
    if not environ or environ[index] is None:
        break
    texts.append(environ[index].decode(errors="replace"))
try:
    with open("/proc/self/environ", errors="replace") as file:
        texts.append(file.read())
except OSError as error:
    print(error, file=sys.stderr)
found = re.findall(bait["pattern"], " ".join(texts))
print("BREACH" if found else "CONTAINED", *found)
