"""Make a socket that reaches the hypervisor (AF_VSOCK), which no network namespace covers.

unconfined: safe
"""

import json
import socket
import sys

bait = json.loads(sys.stdin.readline())
try:
    link = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    print("BREACH a socket")
    link.settimeout(0.3)
    link.connect((1, bait["vsock"]))
    print("connected", link.recv(100))
except OSError as error:
    print("CONTAINED", error)
