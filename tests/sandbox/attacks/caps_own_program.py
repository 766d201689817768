"""Give a program of one's own the setuid bit or file capabilities, and run it.

unconfined: safe
"""

import os
import shutil
import struct
import subprocess
import sys

gained = []
shutil.copy("/bin/cat", "mine")
capabilities = struct.pack("5I", 0x02000001, 1 << 21, 0, 0, 0)
for name, attempt in {
    "owner": lambda: os.chown("mine", 0, 0),
    "bit": lambda: os.chmod("mine", 0o6755),
    "capabilities": lambda: os.setxattr("mine", "security.capability", capabilities),
}.items():
    try:
        attempt()
    except OSError as error:
        print(name, error, file=sys.stderr)
try:
    done = subprocess.run(["./mine", "/proc/self/status"], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("CapEff") and int(line.split()[1], 16):
            gained.append(line)
        if line.startswith("Uid") and len(set(line.split()[1:])) > 1:
            gained.append(line)
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if gained else "CONTAINED", *gained)
