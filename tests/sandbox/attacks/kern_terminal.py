"""Type into a terminal (TIOCSTI), the controlling one or an own one.

unconfined: safe
"""

import fcntl
import os
import sys

TIOCSTI, TIOCSCTTY = 0x5412, 0x540E
typed = []
terminals = [0, 1, 2]
try:
    terminals.append(os.open("/dev/tty", os.O_RDWR))
except OSError as error:
    print(error, file=sys.stderr)
try:
    terminals.append(os.openpty()[1])
    if os.fork():
        os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
    os.setsid()
    fcntl.ioctl(terminals[-1], TIOCSCTTY, 0)
except OSError as error:
    print(error, file=sys.stderr)
for number in terminals:
    for request in (TIOCSTI, TIOCSTI | 1 << 32):
        try:
            fcntl.ioctl(number, request & 0xFFFFFFFF, b"x")
            typed.append(number)
        except OSError as error:
            print(number, error, file=sys.stderr)
print("BREACH" if typed else "CONTAINED", *typed)
