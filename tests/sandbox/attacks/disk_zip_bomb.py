"""Unpack a zip archive of some kilobytes into many times the allowed bytes.

unconfined: safe
expect: ok output
limits: cpu_s=5 wall_s=60
"""

import io
import json
import os
import sys
import zipfile

bait = json.loads(sys.stdin.readline())
wanted = bait["flood"] * bait["limits"]["disk_mb"] << 20
archive = io.BytesIO()
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
    for number in range(4):
        file.writestr(f"part-{number}", bytes(wanted // 4))
try:
    with zipfile.ZipFile(archive) as file:
        file.extractall()
except OSError as error:
    print(error, file=sys.stderr)
unpacked = 0
for number in range(4):
    if os.path.exists(f"part-{number}"):
        unpacked += os.stat(f"part-{number}").st_blocks * 512
print("BREACH" if unpacked >= wanted else "CONTAINED", unpacked >> 20, "MB")
