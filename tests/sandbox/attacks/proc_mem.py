"""Open the memory of the victim, the parent and init for reading and writing (/proc/PID/mem).

Who can write there changes what is reported of the run.

unconfined: safe
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
opened = []
for pid in {bait["victim"], os.getppid(), 1} - {0, os.getpid()}:
    for name, flags in (("mem", os.O_RDWR), ("mem", os.O_RDONLY), ("maps", os.O_RDONLY)):
        try:
            with open(os.open(f"/proc/{pid}/{name}", flags), "rb", buffering=0) as file:
                if name == "mem" or file.read(1):
                    opened.append(f"{pid}/{name}")
        except OSError as error:
            print(error, file=sys.stderr)
print("BREACH" if opened else "CONTAINED", *opened)
