"""Calls that were left and may still hang, and an end of the process that does not wait for them.

Light, for every command ends through it: no store is imported here.
"""

import atexit
import os
import sys
import threading
from contextlib import suppress
from weakref import WeakSet

_left: WeakSet[threading.Thread] = WeakSet()


def leave(thread: threading.Thread) -> None:
    """Note that nobody waits for what a thread does any more."""
    _left.add(thread)


def end(code: object) -> None:
    """End the process with a code if a call hangs; return if none does.

    S3's own library would be taken down at exit, which waits for its calls: for a minute and more
    where a server says nothing, deaf to all signals but SIGKILL.
    """
    if not any(it.is_alive() for it in [*_left]):
        return
    if s3 := sys.modules.get("pyarrow._s3fs"):
        atexit.unregister(s3.ensure_s3_finalized)
    atexit._run_exitfuncs()  # whatever else is to be done, Ray's shutdown for one
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
