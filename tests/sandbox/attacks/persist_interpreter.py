"""Change the interpreter: modules, built-ins, limits, mask, folder; the next run looks for it.

unconfined: no, each plain run has an interpreter of its own
runs: 3
"""

import builtins
import json
import os
import resource
import signal
import sys
from typing import Any

bait = json.loads(sys.stdin.readline())
token, found = bait["token"], []
changed: list[Any] = [builtins, sys, os, json, json.JSONDecoder, signal]
for place in changed:
    if hasattr(place, token):
        found.append(str(place))
    setattr(place, token, True)
found += [name for name in ("RB_LEFT",) if name in os.environ]
found += ["sys.path"] if token in sys.path else []
found += ["sys.modules"] if token in sys.modules else []
found += ["umask"] if os.umask(0o005) == 0o005 else []
found += ["nice"] if os.getpriority(os.PRIO_PROCESS, 0) > 10 else []
found += ["limit"] if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 20 else []
found += ["signal"] if signal.getsignal(signal.SIGUSR2) == signal.SIG_IGN else []
found += ["mask"] if signal.SIGUSR2 in signal.pthread_sigmask(signal.SIG_BLOCK, []) else []
found += ["recursion"] if sys.getrecursionlimit() == 777 else []
found += ["hostname"] if os.uname().nodename == token else []
found += ["digits"] if sys.get_int_max_str_digits() == 7777 else []
os.environ["RB_LEFT"] = token
sys.path.insert(0, token)
sys.modules[token] = os
sys.setrecursionlimit(777)
sys.set_int_max_str_digits(7777)
resource.setrlimit(resource.RLIMIT_NOFILE, (19, 19))
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
builtins.len = lambda _: 42
try:
    os.nice(12)
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if found else "CONTAINED", *found)
