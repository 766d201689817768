"""Tells Python programs another time than it is: by as many seconds as the file $WRONG_BY says.

Python imports this in every program that has its folder on PYTHONPATH. What measures how long
something takes is not touched, as nothing is where somebody sets a machine's clock.
"""

import contextlib
import ctypes
import gc
import os
import time
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, TypeVar

_D = TypeVar("_D", bound=datetime)

_LOOK_S = 0.5
_file = Path(os.environ["WRONG_BY"])
_time, _time_ns = time.time, time.time_ns
_looked, _seconds = 0.0, 0


def _wrong_by() -> int:
    global _looked, _seconds
    if (now := time.monotonic()) - _looked > _LOOK_S:
        _looked = now
        with contextlib.suppress(OSError, ValueError):
            _seconds = int(_file.read_text())
    return _seconds


def _told() -> float:
    return _time() + _wrong_by()


def _told_ns() -> int:
    return _time_ns() + _wrong_by() * 1_000_000_000


def _now(cls: type[_D], tz: tzinfo | None = None) -> _D:
    return cls.fromtimestamp(_told(), tz)


def _utcnow(cls: type[_D]) -> _D:
    return cls.fromtimestamp(_told(), UTC).replace(tzinfo=None)


def _set_dates() -> None:
    """Have the class itself say it: what libraries in C make of another one is not pickled.

    Its attributes cannot be set, so they are put where it keeps them. `today` asks `time.time`.
    """
    kept: dict[str, Any] = gc.get_referents(datetime.__dict__)[0]
    kept |= {"now": classmethod(_now), "utcnow": classmethod(_utcnow)}
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime))


# Other programs know them by the names of those whose places they take.
for _name, _it in {"time": _told, "time_ns": _told_ns}.items():
    _it.__module__, _it.__name__, _it.__qualname__ = "time", _name, _name
    setattr(time, _name, _it)
_set_dates()
