"""Listen where the host can connect; whether it could is seen from outside.

unconfined: safe
"""

import json
import socket
import sys
import time

bait = json.loads(sys.stdin.readline())
sockets = []
for family, address in (
    (socket.AF_INET, ("127.0.0.1", bait["reverse_port"])),
    (socket.AF_UNIX, "\0" + bait["reverse_abstract"]),
    (socket.AF_UNIX, bait["reverse_path"]),
):
    try:
        listener = socket.socket(family)
        listener.bind(address)
        listener.listen()
        sockets.append(listener)
    except OSError as error:
        print(error, file=sys.stderr)
if sockets:
    time.sleep(0.3)
print("CONTAINED unless seen from outside", len(sockets))
