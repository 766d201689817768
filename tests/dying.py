"""Programs that a test run starts and that end with it, however it ends."""

import ctypes
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)  # loaded before a fork


def with_parent(number: signal.Signals) -> Callable[[], None]:
    """Return a `preexec_fn`: the kernel sends the program this signal when the parent ends."""

    def ask_kernel() -> None:
        if number is not signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        _LIBC.prctl(_PR_SET_PDEATHSIG, number)

    return ask_kernel
