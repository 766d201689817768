"""Find a secret of the parent in any Python object of this process.

unconfined: no, a fresh interpreter has no objects of its parent
limits: cpu_s=5 wall_s=60
"""

import gc
import json
import re
import sys
from typing import Any

bait = json.loads(sys.stdin.readline())
pattern, found = re.compile(bait["pattern"]), []
pending: list[Any] = gc.get_objects()
frame: Any = sys._getframe()
while frame:
    pending.append(dict(frame.f_locals))
    pending.append(dict(frame.f_globals))
    frame = frame.f_back
for held in pending:
    for text in gc.get_referents(held):
        if isinstance(text, bytes | bytearray):
            found += pattern.findall(text.decode(errors="replace"))
        elif isinstance(text, str):
            found += pattern.findall(text)
print("BREACH" if found else "CONTAINED", *found[:5])
