"""Reach the sandbox's own frames and objects: write to their descriptors, break their functions.

unconfined: no, there is nobody to believe it
expect: error
exit_code: 5
"""

import contextlib
import gc
import json
import os
import sys
from typing import Any

claim = json.dumps({"status": "ok", "exit_code": 0}).encode()
seen: list[Any] = []
frame: Any = sys._getframe()
while frame.f_back:
    frame = frame.f_back
    seen += [*frame.f_locals.values(), *frame.f_globals.values()]
seen += [held for held in gc.get_objects() if hasattr(type(held), "fileno")]
for value in seen:
    with contextlib.suppress(Exception):
        number = value if isinstance(value, int) else value.fileno()
        if 2 < number < 10_000:
            os.write(number, claim)


def nothing(*_: Any, **__: Any) -> None:
    """Stand for what the sandbox calls after the program."""


real_exit = os._exit
for module in list(sys.modules.values()):
    if "sandbox" in str(getattr(module, "__name__", "")):
        for name in list(vars(module)):
            setattr(module, name, nothing)
sys.stdout.write("CONTAINED if reported as it is\n")
sys.stdout.flush()
real_exit(5)
