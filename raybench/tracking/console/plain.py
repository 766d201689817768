"""Progress as lines: for files, pipes, jobs' logs, and terminals that can do no more."""

import threading
from collections.abc import Callable
from time import monotonic
from typing import TextIO

from raybench.tracking.console.models import notable
from raybench.tracking.console.state import State
from raybench.tracking.console.streams import write
from raybench.tracking.text import printable

_HEARTBEAT_S = 60.0
"""A quiet minute still gets a line, so that nobody takes a long wait for a hang."""
_MODELS_S = 180.0
"""Single models are told of no more often than this."""
_SHARE = 1 / 60
"""A line waits for a sixtieth of the time so far: a run of ten hours is no 3,600 lines."""


class Paced:
    """Tells of a state again and again: soon after news, never too often, and in quiet minutes."""

    def __init__(
        self,
        state: State,
        stream: TextIO,
        *,
        interval: float = 10.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Tell no more often than once in `interval` seconds."""
        self._state = state
        self._stream = stream
        self._interval = interval
        self._clock = clock
        self._lock = threading.RLock()
        self._told = float("-inf")
        self._fresh = False
        self._stop = threading.Event()
        self._beat: threading.Thread | None = None

    def start(self) -> None:
        """Begin, or go on after a pause."""
        self._stop = threading.Event()
        self._tell()
        self._beat = threading.Thread(target=self._keep_telling, args=[self._stop], daemon=True)
        self._beat.start()

    def pause(self) -> None:
        """Tell nothing until it goes on."""
        self._stop.set()
        if self._beat is not None:
            self._beat.join(timeout=1.0)

    def stop(self) -> None:
        """Tell how far it came, and end."""
        self.pause()
        with self._lock:
            self.last()

    def changed(self) -> None:
        """Tell if the last time is long enough ago; the heartbeat brings what came too soon."""
        if self._stop.is_set():
            return
        with self._lock:
            self._fresh = True
            if self._clock() - self._told >= self._patience():
                self._tell()

    def tell(self) -> None:
        """Tell of the state as it is."""
        raise NotImplementedError

    def last(self) -> None:
        """Tell of it for the last time."""
        self.tell()

    def say(self, text: str) -> None:
        """Tell a person something beside it."""
        write(self._stream, printable(text))

    def _patience(self) -> float:
        return min(max(self._interval, self._state.elapsed() * _SHARE), _HEARTBEAT_S)

    def _keep_telling(self, stop: threading.Event) -> None:
        while not stop.wait(min(self._interval, 5.0)):
            with self._lock:
                age = self._clock() - self._told
                if age >= (self._patience() if self._fresh else _HEARTBEAT_S):
                    self._tell()

    def _tell(self) -> None:
        with self._lock:
            self._told = self._clock()
            self._fresh = False
            self.tell()


class Plain(Paced):
    """Tells in lines of text."""

    def start(self) -> None:
        """Begin, or go on after a pause."""
        self._models_told = self._clock()
        self._errors_told: dict[str, int] = {}
        super().start()

    def tell(self) -> None:
        """Print one line, and now and then others of models that a person should look at."""
        write(self._stream, self._state.line())
        rows = self._state.models()
        if self._clock() - self._models_told >= _MODELS_S:
            self._models_told = self._clock()
            for line in notable(rows, self._errors_told):
                write(self._stream, f"  {line}")

    def last(self) -> None:
        """Print how far it came, and what took how long."""
        write(self._stream, self._state.line())
        if course := self._state.course():
            write(self._stream, f"  {course}")
