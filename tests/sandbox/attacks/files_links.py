"""Reach the secrets by symbolic and hard links made here; a secret's text proves it.

unconfined: safe
"""

import ctypes
import json
import os
import re
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
found = []
for number, path in enumerate(bait["secret_files"]):
    for prefix in ["", "/proc/self/root", "/proc/self/cwd/../../../../../..", "/proc/1/root"]:
        link = f"link-{number}"
        for make in ("symlink", "link", "follow"):
            try:
                if make == "symlink":
                    os.symlink(prefix + path, link)
                elif make == "link":
                    os.link(prefix + path, link)
                elif libc.linkat(-100, (prefix + path).encode(), -100, link.encode(), 0x400):
                    raise OSError(ctypes.get_errno(), "linkat")
                with open(link, "rb") as file:
                    found += re.findall(bait["pattern"].encode(), file.read())
            except OSError as error:
                print(error, file=sys.stderr)
            if os.path.lexists(link):
                os.unlink(link)
print("BREACH" if found else "CONTAINED", *found[:5])
