"""Find what an earlier run was given, was or said in the memory inherited from the fork server.

unconfined: no, each plain run has memory of its own
runs: 4
limits: cpu_s=5 wall_s=60
"""

import json
import re
import sys

nonces = json.loads(sys.stdin.readline())["nonces"]
found = set()
try:
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        for entry in maps.readlines():
            begin, end = (int(part, 16) for part in entry.split()[0].split("-"))
            if entry.split()[1].startswith("rw") and "[v" not in entry and end - begin < 1 << 27:
                try:
                    memory.seek(begin)
                    text = memory.read(end - begin)
                    found |= set(re.findall(rb"nonce-[a-z]+-[0-9a-f]{32}", text))
                except OSError as error:
                    print(error, file=sys.stderr)
except OSError as error:
    print(error, file=sys.stderr)
own = {f"nonce-{kind}-{nonce}".encode() for kind, nonce in nonces.items()}
print("BREACH" if found - own else "CONTAINED", *(found - own))
print("nonce-output-" + nonces["output"])
