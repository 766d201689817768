"""Recurse without end, through C and through Python: memory and stack must end it.

unconfined: no, it would take all memory
expect: ok error memory
limits: cpu_s=10 wall_s=60
"""

import sys
from typing import Any

sys.setrecursionlimit(1 << 30)


def through_c(_: Any) -> Any:
    return sorted([0], key=through_c)


def through_python(depth: int) -> int:
    return through_python(depth + 1)


try:
    through_python(0)
except (RecursionError, MemoryError):
    pass
try:
    through_c(0)
except (RecursionError, MemoryError):
    pass
print("CONTAINED")
