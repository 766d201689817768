"""Connect to an abstract socket of the host; it says a secret and sees the connection.

unconfined: safe
"""

import json
import socket
import sys

bait = json.loads(sys.stdin.readline())
try:
    with socket.socket(socket.AF_UNIX) as link:
        link.connect("\0" + bait["unix_abstract"])
        print("BREACH", link.recv(100))
except OSError as error:
    print("CONTAINED", error)
