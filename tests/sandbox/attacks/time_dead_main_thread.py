"""End the main thread alone while another sleeps: the process looks dead and is not.

unconfined: no, there is nothing to gain
expect: timeout
limits: wall_s=0.4
"""

import ctypes
import platform
import threading
import time

threading.Thread(target=time.sleep, args=(1000,)).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
