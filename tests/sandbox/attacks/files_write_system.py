"""Open the interpreter's and the system's own files for writing; an open file proves it.

unconfined: safe
"""

import ctypes
import glob
import os
import sys

opened = []
folders = [os.path.dirname(os.__file__), "/usr/bin", "/usr/lib", "/etc", "/bin", "/lib", "/"]
files = [
    os.__file__,
    json_file := ctypes.__file__,
    sys.executable,
    "/etc/passwd",
    "/etc/ld.so.cache",
]
for path in [*files, *glob.glob("/usr/lib/*/libc.so.6"), *glob.glob("/usr/bin/env")]:
    try:
        os.close(os.open(path, os.O_RDWR))
        opened.append(path)
    except OSError as error:
        print(error, file=sys.stderr)
for folder in folders:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR))
        opened.append(folder)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if opened else "CONTAINED", *opened)
