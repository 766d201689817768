"""Connect to a socket file of the host; it says a secret and sees the connection.

unconfined: safe
"""

import json
import socket
import sys

bait = json.loads(sys.stdin.readline())
try:
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(bait["unix_path"])
        print("BREACH", link.recv(100))
except OSError as error:
    print("CONTAINED", error)
