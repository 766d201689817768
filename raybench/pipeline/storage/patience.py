"""Trying again while a store is away, for as long as was said."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from raybench.errors import RunFailed

_T = TypeVar("_T")
_FIRST_S, _LONGEST_S, _STEP_S = 0.25, 15.0, 0.25


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
                found = do()
            except FileNotFoundError:
                raise
            except OSError as error:
                self.away = True
                if given_up() or time.monotonic() >= until:
                    raise RunFailed(
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


def _sleep(seconds: float) -> None:
    """Wait; Ctrl-C, which only cancels the task of an event loop, ends it at once."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, _STEP_S))
        try:
            task = asyncio.current_task()
        except RuntimeError:  # no event loop: a thread of its own
            continue
        if task is not None and task.cancelling():
            raise asyncio.CancelledError
