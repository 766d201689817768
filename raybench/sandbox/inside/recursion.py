"""How deep a program may recurse through what is written in C, a cached function for one.

Python 3.12 and 3.13 bound it by a number that `sys.setrecursionlimit` does not reach: 1,500 in
3.12.0 and 3.12.1, at which right programs fail that go 500 deep (CPython's issue 112215), and
10,000 later, which suits a stack of 8 MiB. Here it is that much for each 8 MiB that there are.
"""

import ctypes
import sys
import threading

_BOUNDED = ((3, 12), (3, 13))
_EACH, _EACH_MB, _MOST = 10_000, 8, 1_000_000
_STATE = ctypes.pythonapi.PyThreadState_Get
_STATE.restype = ctypes.c_void_p
_WORDS = 32
"""Of the thread's state: the number is among the first."""


def allow(stack_mb: float) -> None:
    """Let this thread go as deep as its stack is large, and those that it starts as theirs are."""
    if sys.version_info[:2] not in _BOUNDED:
        return
    _set(stack_mb)
    bootstrap = threading.Thread._bootstrap  # type: ignore[attr-defined]

    def begin(thread: threading.Thread) -> None:
        _set(threading.stack_size() / (1 << 20) or _EACH_MB)
        bootstrap(thread)

    threading.Thread._bootstrap = begin  # type: ignore[attr-defined]


def _set(stack_mb: float) -> None:
    """Raise this thread's number, which stands behind Python's own limit in its state."""
    words = (ctypes.c_int * _WORDS).from_address(_STATE())
    before = sys.getrecursionlimit()
    places = [place for place in range(_WORDS - 1) if words[place] == before]
    try:
        # What changes with the limit is the limit, and nothing else is touched.
        sys.setrecursionlimit(before + 1)
        found = [place + 1 for place in places if words[place] == before + 1]
    finally:
        sys.setrecursionlimit(before)
    for place in found[:1]:
        words[place] = max(words[place], min(_MOST, int(_EACH * stack_mb / _EACH_MB)))
