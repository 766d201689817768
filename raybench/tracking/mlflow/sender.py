"""Sends a run's spool while the run goes on, in a thread of its own: no server holds up a run."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from time import monotonic

from raybench.statements import Statement
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
_OTHERS_S, _TELL_S = 60.0, 2.0
"""At the end earlier runs' leftovers take no longer altogether; who waits longer is told of it."""


class _Enough(Exception):
    """The run is to end: what earlier runs have left waits."""


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
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`runs_dir` has the runs whose leftovers are sent as well."""
        self._clock = clock
        self._folder, self._uri, self._runs_dir = folder, uri, runs_dir
        self._warn, self._say = warn, say
        self._writer = Writer(folder, uri, moved=self._moved)
        self._moves = 0
        self._failing = self._all_sent = self._given_up = False
        self._left: Iterator[Path] | None = None
        self._helped, self._more = 0, False
        self._until = float("inf")
        """Until then others are helped."""
        self._wake, self._closing, self._first, self._over = (threading.Event() for _ in range(4))
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

    @property
    def complete(self) -> bool:
        """Tell whether all of the run and its parts was sent while it was waited for."""
        return self._all_sent and not self._given_up

    def close(self) -> None:
        """Send the rest, as long as that gets on; what is left stays in the run's folder.

        What earlier runs have left is sent for some seconds more.
        """
        self._until = self._clock() + _OTHERS_S
        self._closing.set()
        self._wake.set()
        if not self._wait(lambda: self._over.is_set() or not self._thread.is_alive()):
            self._given_up = True
            self._unsent(
                Statement(
                    "mlflow.no_answer",
                    "{uri} has not answered for {seconds:.0f} s",
                    uri=redacted(self._uri),
                    seconds=self._patience,
                )
            )
        elif self._over.is_set():
            self._wait_for_others()

    def _wait_for_others(self) -> None:
        self._thread.join(min(_TELL_S, _OTHERS_S))
        if self._thread.is_alive():
            self._say(
                Statement(
                    "mlflow.sending_earlier",
                    "MLflow is sent what earlier runs had not sent, for {seconds:.0f} s at most",
                    seconds=_OTHERS_S,
                )
            )
            self._thread.join(max(0.0, self._until - self._clock()))
        if self._helped:
            self._say(
                Statement(
                    "mlflow.sent_earlier",
                    "MLflow was sent what {runs} had not sent",
                    runs="an earlier run" if self._helped == 1 else f"{self._helped} earlier runs",
                    number=self._helped,
                )
            )
        if self._more or self._thread.is_alive():
            self._say(
                Statement(
                    "mlflow.more_left",
                    "Earlier runs have more for MLflow than there was time for: the next run "
                    "sends it, or python -m raybench.tracking sync {folder}",
                    folder=self._runs_dir,
                )
            )

    # ------------------------------------------------------------------ the thread

    def _work(self) -> None:
        pause = _AGAIN_S
        while True:
            self._wake.clear()  # first: whoever closes it after the look wakes it again
            closing = self._closing.is_set()
            sent = self._own(closing)
            self._first.set()
            if closing:
                break
            if not sent:
                self._closing.wait(pause)
                pause = min(_LONGEST_S, 2 * pause)
                continue
            pause = _AGAIN_S
            if not self._help():
                self._closing.wait(_PAUSE_S)
                self._wake.wait()
        self._over.set()
        while sent and self._help():
            pass

    def _own(self, closing: bool) -> bool:
        """Send what this run's spool holds, at the end its parts' too; tell if that went well."""
        self._all_sent = False  # what is there is not known before it is over
        try:
            with spool.alone(self._folder) as alone:
                if not alone:  # somebody syncs this run: what is left is sent the next time
                    return False
                sent = self._writer.send(over=closing)
            for part in sync.left(self._folder, self._uri) if closing else ():
                sent &= self._send(part, self._moved) != "busy"
        # MLflow, SQLAlchemy, HTTP and file errors alike: none may end an evaluation.
        except Exception as error:
            why = one_line(masked(str(error), self._uri), 300)
            self._unsent(f"MLflow failed ({redacted(self._uri)}): {type(error).__name__}: {why}")
            return False
        self._all_sent = sent
        if self._failing:
            self._failing = False
            self._warn(f"MLflow answers again: {redacted(self._uri)} has what it missed")
        self._refused(self._folder, self._writer.refused)
        self._writer.refused.clear()
        return True

    def _help(self) -> bool:
        """Send what one earlier run has left; tell whether there may be more, and time for it."""
        if self._runs_dir is None:
            return False
        if self._left is None:
            self._left = sync.waiting(self._runs_dir, self._uri, but=self._folder)
        with contextlib.suppress(Exception):  # their folders may be gone, or not ours to write to
            folder = next(self._left, None)
            self._more = folder is not None
            if folder is None or self._clock() > self._until:
                return False
            try:
                self._send(folder, self._moved_for_others)
            except _Enough:
                self._left = chain([folder], self._left)
        return True

    def _send(self, folder: Path, moved: Callable[[], None]) -> str:
        """Send what another run has left; return what was done."""
        done = sync.send(folder, self._uri, moved=moved)
        self._helped += done.did == "sent"
        self._refused(folder, done.refused)
        return done.did

    def _refused(self, folder: Path, refused: Sequence[str]) -> None:
        for what in refused:
            self._warn(f"MLflow refuses some of {folder}: {one_line(what, 300)}")

    def _moved(self) -> None:
        self._moves += 1

    def _moved_for_others(self) -> None:
        """Note it, and leave off where the run's own end waits, or the time is up."""
        self._moved()
        if self._closing.is_set() and not (self._over.is_set() and self._clock() < self._until):
            raise _Enough

    # ------------------------------------------------------------------ from the run's thread

    def _wait(self, done: Callable[[], bool]) -> bool:
        """Wait until it is done, for as long as the server says something; tell whether it is."""
        moves, since = self._moves, self._clock()
        while not done():
            if moves != self._moves:
                moves, since = self._moves, self._clock()
            elif self._clock() - since > self._patience:
                return False
            self._thread.join(0.05)
        return True

    def _unsent(self, why: str) -> None:
        """Say once in an outage that something went wrong, and how it is mended."""
        if not self._failing:
            self._failing = True
            self._warn(
                Statement(
                    "mlflow.unsent",
                    "{why}. The run goes on; what was not sent is kept in {folder} and is sent "
                    "when MLflow answers, by the next run or by "
                    "python -m raybench.tracking sync {folder}",
                    why=why if isinstance(why, Statement) else why.removesuffix("."),
                    folder=self._folder,
                )
            )
