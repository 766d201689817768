"""Sends a run's spool while the run goes on, in a thread of its own: no server holds up a run."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from time import monotonic

from raybench.tracking.mlflow import spool, sync
from raybench.tracking.mlflow.writer import Writer
from raybench.tracking.text import one_line
from raybench.tracking.uri import masked, redacted, sqlite_path

_PAUSE_S = 1.0
"""What comes within a second of each other goes out together."""
_AGAIN_S, _LONGEST_S = 5.0, 60.0
"""After a failure it waits so long before it tries again, each time twice as long."""
_PATIENCE_S, _SETTING_UP_S = 20.0, 150.0
"""At the end so long is waited for a server's next word; for a store that may be in the making."""


class Sender:
    """Sends what the spool holds and will hold. Nothing that it meets stops the run."""

    def __init__(
        self,
        folder: Path,
        uri: str,
        *,
        warn: Callable[[str], None],
        say: Callable[[str], None],
        runs_dir: Path | None = None,
    ) -> None:
        """`runs_dir` has the runs whose leftovers are sent as well."""
        self._folder, self._uri, self._runs_dir = folder, uri, runs_dir
        self._warn, self._say = warn, say
        self._writer = Writer(folder, uri, moved=self._moved)
        self._moves = 0
        self._failing = self._failed_once = self.complete = False
        self._left: Iterator[Path] | None = None
        self._parts: Iterator[Path] | None = None
        self._helped = 0
        self._wake, self._closing, self._first = (threading.Event() for _ in range(3))
        self._patience = _PATIENCE_S if sqlite_path(uri) is None else _SETTING_UP_S
        self._thread = threading.Thread(target=self._work, name="mlflow", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Say that there is more."""
        self._wake.set()

    @property
    def run_id(self) -> str | None:
        """The parent run's id, waited for until the server has answered or failed."""
        if self._thread.ident is not None:
            self._wait(self._first.is_set)
        return self._writer.run_id if self._first.is_set() else None

    def close(self) -> None:
        """Send the rest, as long as that gets on; what is left stays in the run's folder."""
        self._closing.set()
        self._wake.set()
        if not self._wait(lambda: not self._thread.is_alive()):
            self._unsent(f"{redacted(self._uri)} has not answered for {self._patience:.0f} s")

    # ------------------------------------------------------------------ the thread

    def _work(self) -> None:
        pause = _AGAIN_S
        while True:
            self._wake.clear()  # first: whoever closes it after the look wakes it again
            closing = self._closing.is_set()
            sent = self._own(closing)
            self._first.set()
            helping = sent and self._others(closing)
            if closing and not helping:
                break
            if sent:
                pause = _AGAIN_S
                if not helping:
                    self._closing.wait(_PAUSE_S)
                    self._wake.wait()
            else:
                self._closing.wait(pause)
                pause = min(_LONGEST_S, 2 * pause)
        if self._helped:
            runs = "an earlier run" if self._helped == 1 else f"{self._helped} earlier runs"
            self._say(f"MLflow was sent what {runs} had not sent")

    def _own(self, closing: bool) -> bool:
        """Send what this run's spool holds; tell whether that went well."""
        try:
            with spool.alone(self._folder) as alone:
                if not alone:  # somebody syncs this run: what is left is sent the next time
                    self.complete = False
                    return False
                self.complete = self._writer.send(over=closing)
        # MLflow, SQLAlchemy, HTTP and file errors alike: none may end an evaluation.
        except Exception as error:
            self._failing, self.complete = True, False
            why = one_line(masked(str(error), self._uri), 300)
            self._unsent(f"MLflow failed ({redacted(self._uri)}): {type(error).__name__}: {why}")
            return False
        if self._failing:
            self._warn(f"MLflow answers again: {redacted(self._uri)} has what it missed")
        self._failing = False
        for what in self._writer.refused:
            self._warn(f"MLflow refuses some of it: {one_line(what, 300)}")
        self._writer.refused.clear()
        return True

    def _others(self, closing: bool) -> bool:
        """Send what one earlier run has left, or a part at the end; tell whether there was one."""
        if self._runs_dir is None:
            return False
        with contextlib.suppress(Exception):  # their folders may be gone, or not ours to write to
            if self._left is None:
                self._left = iter(sync.waiting(self._runs_dir, self._uri, but=self._folder))
            if closing and self._parts is None:
                self._parts = sync.left(self._folder, self._uri)
            for folder in chain(self._parts or (), self._left):
                if sync.send(folder, self._uri, moved=self._moved).did == "sent":
                    self._helped += 1
                return True
        return False

    # ------------------------------------------------------------------ from the run's thread

    def _moved(self) -> None:
        self._moves += 1

    def _wait(self, done: Callable[[], bool]) -> bool:
        """Wait until it is done, for as long as the server says something; tell whether it is."""
        moves, since = self._moves, monotonic()
        while not done():
            if moves != self._moves:
                moves, since = self._moves, monotonic()
            elif monotonic() - since > self._patience:
                return False
            self._thread.join(0.05)
        return True

    def _unsent(self, why: str) -> None:
        """Say once that something went wrong, and how it is mended."""
        if not self._failed_once:
            self._failed_once = True
            self._warn(
                f"{why}. The run goes on without it: what it was to be told is safe in "
                f"{self._folder}, and is sent when it answers, by the next run or by "
                f"python -m raybench.tracking sync {self._folder}"
            )
