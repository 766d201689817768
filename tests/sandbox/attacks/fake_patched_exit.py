"""Break what ends a program in Python and raise: that it failed must be reported.

unconfined: no, there is nobody to believe it
expect: error
"""

import os
import sys
import traceback
from typing import Any


def nothing(*_: Any, **__: Any) -> None:
    """Do nothing, whatever is asked."""


for place, name in (
    (sys, "excepthook"),
    (sys, "exit"),
    (traceback, "print_exc"),
    (os, "kill"),
    (os, "close"),
    (os, "write"),
):
    setattr(place, name, nothing)
sys.stderr.close()
raise ValueError("this must not pass for a good end")
