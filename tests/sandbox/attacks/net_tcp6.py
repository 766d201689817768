"""Connect to a listener of the host on ::1; it says a secret and sees the connection.

unconfined: safe
"""

import json
import socket
import sys

bait = json.loads(sys.stdin.readline())
try:
    with socket.create_connection(("::1", bait["tcp6"]), timeout=1) as link:
        print("BREACH", link.recv(100))
except OSError as error:
    print("ABSENT" if not bait["tcp6"] else "CONTAINED", error)
