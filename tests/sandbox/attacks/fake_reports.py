"""Write made-up outcomes to every descriptor there may be, here and at others, then exit with 3.

unconfined: no, there is nobody to believe it
expect: error
exit_code: 3
"""

import contextlib
import json
import os
import pickle
import struct
import sys

claim = {"status": "ok", "exit_code": 0, "signal": None, "code": 0, "stdout": "BREACH", "cpu_s": 0}
texts = [json.dumps(claim).encode() + b"\n", b"[0, 0.0, 0]", pickle.dumps(claim), bytes(64)]
texts += [struct.pack("<I", len(texts[0])) + texts[0], struct.pack(">I", len(texts[0])) + texts[0]]
targets = [*range(3, 300)]
for pid in {"self", "1", str(os.getppid())}:
    for number in range(300):
        with contextlib.suppress(OSError):
            if pid != "self" or number > 2:
                path = f"/proc/{pid}/fd/{number}"
                targets.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
for target in targets:
    for text in texts:
        with contextlib.suppress(OSError):
            os.set_blocking(target, False)
            os.write(target, text)
print("CONTAINED if reported as it is")
sys.exit(3)
