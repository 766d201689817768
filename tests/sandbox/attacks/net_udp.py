"""Send a datagram to a socket of the host; whether it arrived is seen from outside.

unconfined: safe
"""

import json
import socket
import sys

bait = json.loads(sys.stdin.readline())
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")):
    try:
        socket.socket(family, socket.SOCK_DGRAM).sendto(b"leaked", (address, bait["udp4"]))
    except OSError as error:
        print(error, file=sys.stderr)
print("CONTAINED unless seen from outside")
