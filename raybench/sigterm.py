"""SIGTERM, which one thread waits for: no handler that Ray's core installs ever runs.

That handler aborts the process. It is there from the moment in which Ray connects, and a signal
that may arrive in any thread reaches it, however soon another one takes its place.
"""

import _thread
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_TIMES, _BETWEEN_S = 5, 0.1


@contextmanager
def received() -> Iterator[None]:
    """Have SIGTERM run the handler that Python has for it, in the main thread.

    Enter it there, before other threads start: they inherit that SIGTERM is blocked. So do the
    processes that they start, unless it is `unblocked` meanwhile.
    """
    main, over = threading.get_ident(), threading.Event()
    # A signal that does nothing still interrupts what the main thread waits for.
    before = signal.signal(signal.SIGURG, lambda *_: None)

    def wait() -> None:
        while signal.sigwait({signal.SIGTERM}) and not over.is_set():
            _thread.interrupt_main(signal.SIGTERM)
            for _ in range(_TIMES):  # one may come just before the main thread begins to wait
                signal.pthread_kill(main, signal.SIGURG)
                over.wait(_BETWEEN_S)

    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    waiter = threading.Thread(target=wait, name="sigterm", daemon=True)
    waiter.start()
    try:
        yield
    finally:
        over.set()
        signal.pthread_kill(waiter.ident or main, signal.SIGTERM)
        waiter.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGURG, before)


@contextmanager
def unblocked() -> Iterator[None]:
    """Have the processes that this thread starts end by SIGTERM, as is usual."""
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
