"""Trying again while a store is away, for as long as was said.

Each try has a thread of its own, for a store may also accept a request and say nothing: whoever
waits hears Ctrl-C meanwhile, and can leave. A try that was left may still come to something.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

from raybench.errors import RunFailed

_T = TypeVar("_T")
_FIRST_S, _LONGEST_S, _STEP_S = 0.25, 15.0, 0.25


class AwayError(RunFailed):
    """A store was away for longer than it is waited for."""


class Patience:
    """How long a store that is away is waited for, and who is told of it."""

    def __init__(self, where: str, seconds: float, say: Callable[[str], None]) -> None:
        self.where = where
        self._seconds = seconds
        self._say = say
        self.away = False
        """The last that is known of it is that it could not be reached."""

    def call(self, do: Callable[[], _T], given_up: Callable[[], bool] = lambda: False) -> _T:
        """Return what a call returns; raise RunFailed where it fails for too long.

        It may be called again after it has come to something: it has to be one that is the same
        done twice. `given_up` tells that nobody waits for it any more.
        """
        until, wait, told = time.monotonic() + self._seconds, _FIRST_S, False
        while True:
            try:
                found = _in_thread(do)
            except FileNotFoundError:
                raise
            except OSError as error:
                self.away = True
                if given_up() or time.monotonic() >= until:
                    raise AwayError(
                        f"{self.where} could not be reached for {self._seconds:g} s (storage, "
                        f"storage_patience_s): {reason(error)}. What the run has is kept on this "
                        "machine: when that is mended, the same command goes on with it"
                    ) from error
                if not told:
                    self._say(
                        f"{self.where} cannot be reached: {reason(error)}. The run waits for it, "
                        f"for up to {self._seconds:g} s (storage_patience_s)"
                    )
                    told = True
                _sleep(min(wait, max(0.0, until - time.monotonic())))
                wait = min(2 * wait, _LONGEST_S)
            else:
                self.away = False
                if told:
                    self._say(f"{self.where} is there again: the run goes on")
                return found


def reason(error: BaseException) -> str:
    """Return what a store says in a line; SDKs add the request, and the same once more."""
    text = " ".join(str(error).split())
    return text.partition(" (Request ID")[0].partition("; Details: ")[0][:300]


def _in_thread(do: Callable[[], _T]) -> _T:
    """Return what a call returns; Ctrl-C ends the wait for it at once."""
    future: Future[_T] = Future()

    def work() -> None:
        try:
            future.set_result(do())
        except BaseException as error:  # whoever waits is told
            future.set_exception(error)

    threading.Thread(target=work, name="store", daemon=True).start()
    while not wait([future], _STEP_S).done:
        _refuse_if_cancelled()
    return future.result()


def _sleep(seconds: float) -> None:
    """Wait; Ctrl-C ends it at once."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, _STEP_S))
        _refuse_if_cancelled()


def _refuse_if_cancelled() -> None:
    """End the wait where Ctrl-C, which in an event loop only cancels the task, has come."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop: a thread of its own
        return
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
