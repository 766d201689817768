"""Trying again while a store is away, for as long as was said.

Each try has a thread of its own, for a store may also accept a request and say nothing: whoever
waits hears Ctrl-C meanwhile, and can leave. A try that was left may still come to something. One
that says nothing for too long is left, and not tried again: both could come to something then.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any, TypeVar

from raybench.errors import Problem, RunFailed
from raybench.pipeline import hanging

_T = TypeVar("_T")
_FIRST_S, _LONGEST_S, _STEP_S = 0.25, 15.0, 0.25
_SLOW_S = 10.0
"""After so long it is told that a try has come to nothing yet."""
_TRY_S = 120.0
"""A try has so long in any case: a large file takes its time, however little is waited for."""


def sleep(seconds: float) -> None:
    """Wait; Ctrl-C ends it at once."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, _STEP_S))
        _refuse_if_cancelled()


def _is_done(future: Future[Any], seconds: float) -> bool:
    """Wait for a future, at most so long; return whether it is done."""
    return bool(wait([future], seconds).done)


@dataclass(frozen=True, slots=True)
class Clock:
    """How time is read and waited for. Tests replace it."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = sleep
    is_done: Callable[[Future[Any], float], bool] = _is_done


REAL = Clock()


class AwayError(RunFailed):
    """A store was away for longer than it is waited for."""


class SilentError(OSError):
    """A store took a call and did not answer it."""


class Patience:
    """How long a store that is away is waited for, and who is told of it."""

    def __init__(
        self, where: str, seconds: float, say: Callable[[str], None], clock: Clock = REAL
    ) -> None:
        self.where = where
        self._seconds = seconds
        self._say = say
        self._clock = clock
        self.away = False
        """The last that is known of it is that it could not be reached."""

    def call(self, do: Callable[[], _T], given_up: Callable[[], bool] = lambda: False) -> _T:
        """Return what a call returns; raise RunFailed where it fails for too long.

        It may be called again after it has come to something: it has to be one that is the same
        done twice. `given_up` tells that nobody waits for it any more.
        """
        now = self._clock.now
        until, wait, told = now() + self._seconds, _FIRST_S, False

        def slow() -> None:
            nonlocal told
            if not told:
                self._say(
                    f"{self.where} has not answered for {_SLOW_S:g} s. The run waits for it, for "
                    f"up to {max(self._seconds, _TRY_S):g} s (storage_patience_s)"
                )
                told = True

        while True:
            left = max(_TRY_S, until - now())
            try:
                found = answer(do, left, slow=slow, leave=_refuse_if_cancelled, clock=self._clock)
            except FileNotFoundError:
                raise
            except OSError as error:
                self.away = True
                silent = isinstance(error, SilentError)
                if silent or given_up() or now() >= until:
                    raise AwayError(
                        Problem(
                            "storage.unreachable",
                            f"{self.where} could not be reached for {self._seconds:g} s (storage, "
                            f"storage_patience_s): {reason(error)}. What the run has is kept on "
                            "this machine",
                            setting="storage",
                            given=self.where,
                            fix="When it can be reached, the same command resumes the run",
                        )
                    ) from error
                if not told:
                    self._say(
                        f"{self.where} cannot be reached: {reason(error)}. The run waits for it, "
                        f"for up to {self._seconds:g} s (storage_patience_s)"
                    )
                    told = True
                self._clock.sleep(min(wait, max(0.0, until - now())))
                wait = min(2 * wait, _LONGEST_S)
            except (KeyboardInterrupt, asyncio.CancelledError):
                self.away = True  # a call was left: nothing that is left to do waits for the next
                raise
            else:
                self.away = False
                if told:
                    self._say(f"{self.where} is there again: the run goes on")
                return found


def reason(error: BaseException) -> str:
    """Return what a store says in a line; SDKs add the request, and the same once more."""
    text = " ".join(str(error).split())
    text = text.rpartition("The underlying error message was: ")[2]
    for after in (" (Request ID", "; Details: ", " See Azure::Core", " error_info={"):
        text = text.partition(after)[0]
    return text[:300]


def answer(
    do: Callable[[], _T],
    seconds: float,
    *,
    slow: Callable[[], None] = lambda: None,
    slow_s: float = _SLOW_S,
    leave: Callable[[], None] = lambda: None,
    clock: Clock = REAL,
) -> _T:
    """Return what one try comes to; Ctrl-C ends the wait for it at once.

    Raises SilentError where that is nothing for so many seconds. `slow` is called once, after a
    while of it; `leave` again and again: what it raises ends the wait.
    """
    future: Future[_T] = Future()

    def work() -> None:
        try:
            future.set_result(do())
        except BaseException as error:  # whoever waits is told
            future.set_exception(error)

    thread = threading.Thread(target=work, name="store", daemon=True)
    since, told = clock.now(), False
    try:
        thread.start()
        while not clock.is_done(future, min(_STEP_S, seconds)):
            leave()
            waited = clock.now() - since
            if waited >= seconds:
                raise SilentError(f"it has not answered for {seconds:g} s")
            if not told and waited >= slow_s:
                slow()
                told = True
    finally:
        if not future.done():
            hanging.leave(thread)
    return future.result()


def interruptible(do: Callable[[], _T]) -> _T:
    """Return what a call returns that has its own patience; Ctrl-C ends the wait at once."""
    return answer(do, math.inf, slow_s=math.inf, leave=_refuse_if_cancelled)


def _refuse_if_cancelled() -> None:
    """End the wait where Ctrl-C, which in an event loop only cancels the task, has come."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop: a thread of its own
        return
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
