"""What a run tells MLflow. Tracking never stops an evaluation: all goes to a spool first.

From there it is sent while the run goes on, and what fails later: the run's folder has everything.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from getpass import getuser
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from raybench.statements import Statement
from raybench.tracking.mlflow import entries, killed
from raybench.tracking.mlflow.sender import Sender
from raybench.tracking.mlflow.spool import PARENT, Entry, Spool, address, ended, give_up, sent_to
from raybench.tracking.mlflow.told import Told
from raybench.tracking.text import one_line
from raybench.tracking.uri import absolute, redacted

Param = str | int | float | bool


class Tracker:
    """The runs of one invocation in MLflow. Every method returns normally, whatever MLflow does.

    Only `run_id` and `close` wait for it, for some seconds.
    """

    def __init__(self, spool: Spool | None, folder: Path, sender: Sender, warn: Any) -> None:
        """Without a spool nothing is told."""
        self._spool, self._folder, self._sender, self._warn = spool, folder, sender, warn
        self._full = self._broken = False
        """Some of it could not be written down yet; or at all, so that MLflow lacks it."""
        self._told = Told(spool.entries if spool else ())

    @classmethod
    def open(
        cls,
        *,
        uri: str,
        experiment: str,
        run_dir: Path,
        run_name: str,
        models: Mapping[str, Mapping[str, Param]],
        params: Mapping[str, Param],
        tags: Mapping[str, str],
        warn: Callable[[str], None],
        say: Callable[[str], None] | None = None,
        supersede: bool = False,
        runs_dir: Path | None = None,
        send: bool = True,
        silent: bool = False,
    ) -> "Tracker":
        """Begin the runs, or go on with those that `run_dir` remembers.

        `params` are the parent's parameters, `models` has those of every child. `tags` are
        everybody's: with 'mlflow.parentRunId' the parent hangs below another run. With `supersede`
        the remembered runs stay as they are, and new ones take their place: what MLflow once has
        of a metric or a parameter it cannot lose. Of the runs in `runs_dir` is sent what they could
        not send. Without `send` all of it stays in the run's folder, for `sync` or another run.
        If `silent`, nothing is told at all.
        """
        sender = Sender(run_dir, absolute(uri), warn=warn, say=say or warn, runs_dir=runs_dir)
        if silent:
            return cls(None, run_dir, sender, warn)
        try:
            spool = Spool(run_dir)
        except OSError as error:
            warn(f"MLflow is not told of this run: {run_dir} cannot be written to: {error}")
            return cls(None, run_dir, sender, warn)
        tracker = cls(spool, run_dir, sender, warn)
        texts = {run: _texts(values) for run, values in {PARENT: params, **models}.items()}
        begun = any(entry["kind"] == "open" for entry in spool.entries)
        if begun and not supersede:
            tracker._go_elsewhere(redacted(absolute(uri)))
            tracker._tell(
                {
                    "kind": "again",
                    "started_ms": _now_ms(),
                    "tags": _tags(tags) | {"resumed": "true"},
                    "params": texts,
                }
            )
        else:
            if begun:
                for entry in () if ended(run_dir) else killed.last_words(run_dir):
                    tracker._tell(entry)
                tracker._tell({"kind": "superseded"})
            tracker._tell(
                {
                    "kind": "open",
                    "key": uuid4().hex,
                    "uri": redacted(absolute(uri)),
                    "experiment": experiment,
                    "name": run_name,
                    "user": _user(),
                    "started_ms": _now_ms(),
                    "tags": {"resumed": str(begun).lower(), **_tags(tags)},
                    "params": texts,
                }
            )
        spool.entries.clear()
        if send:
            sender.start()
        return tracker

    def _go_elsewhere(self, uri: str) -> None:
        """Have a run that is gone on with under another address told there, all of it.

        But where that is one that was given up for another, as the run's own may be.
        """
        before = address(self._folder)
        if before and before != uri and not sent_to(self._folder, uri).instead:
            give_up(self._folder, before, instead=uri)

    @property
    def run_id(self) -> str | None:
        """The parent run's id, or None where MLflow could not be reached yet."""
        return self._sender.run_id

    @property
    def complete(self) -> bool:
        """Tell whether MLflow has all that it was to be told, once the tracker is closed."""
        return self._sender.complete and not self._broken

    def log_step(
        self,
        per_model: Mapping[str, Mapping[str, float]],
        overall: Mapping[str, float],
        *,
        step: int,
        timestamp_ms: int,
    ) -> None:
        """Tell one step's metrics; the same step told again changes nothing."""
        fresh = self._told.step(per_model, overall, step=step, timestamp_ms=timestamp_ms)
        if fresh:
            self._tell({"kind": "points", "points": fresh}, durable=False)

    def finish(
        self,
        results: Mapping[str, Any],
        artifacts: Sequence[Path],
        *,
        tags: Mapping[str, str] = MappingProxyType({}),
        inputs: Mapping[str, str] = MappingProxyType({}),
        note: str = "",
    ) -> None:
        """Tell the numbers of results.json, what was read, and that the runs are FINISHED.

        Where models failed, the parent is FAILED, and so are theirs, with the reason. `inputs` are
        digests of what was read, `note` (Markdown) is what MLflow shows the parent with.
        """
        words = self._told.results(
            results,
            [self._named(path) for path in artifacts],
            ended_ms=_now_ms(),
            tags=_tags(tags),
            inputs=inputs,
            note=note,
        )
        for entry in words:
            self._tell(entry)

    def fail(self, reason: str, artifacts: Sequence[Path] = ()) -> None:
        """Tell that the runs FAILED for a reason in words, and keep the artifacts there are."""
        self._close("FAILED", reason, artifacts)

    def interrupted(self, reason: str) -> None:
        """Tell that the runs were KILLED: a person or a signal ended them; they may be resumed."""
        self._close("KILLED", reason)

    def close(self) -> None:
        """Send the rest and the artifacts; what the server does not take stays in the folder."""
        if self._spool is not None:
            try:
                self._spool.close()
            except OSError as error:
                self._broken = True
                self._warn(
                    Statement(
                        "mlflow.rest_untold",
                        "MLflow is not told the rest of this run: {why}. What its results.json "
                        "has, if it came so far, is told later all the same: by the next run, or "
                        "by python -m raybench.tracking sync {folder}",
                        why=self._cannot(error),
                        folder=self._folder,
                    )
                )
            self._spool = None
        self._sender.close()

    def _close(self, status: str, reason: str, artifacts: Sequence[Path] = ()) -> None:
        paths = [self._named(path) for path in artifacts]
        for entry in self._told.end(status, _now_ms(), {"reason": entries.text(reason)}, paths):
            self._tell(entry)

    def _tell(self, entry: Entry, *, durable: bool = True) -> None:
        if self._spool is None:
            return
        self._told.enter(entry)
        try:
            self._spool.append(entry, durable=durable)
            self._full = False
        except OSError as error:
            if not self._full:
                self._full = True
                self._warn(
                    Statement(
                        "mlflow.in_memory",
                        "What MLflow is to be told waits in memory: {why}. It is tried again "
                        "while the run goes on",
                        why=self._cannot(error),
                    )
                )
        self._sender.wake()

    def _cannot(self, error: OSError) -> str:
        return f"{self._folder} cannot be written to: {one_line(str(error), 300)}"

    def _named(self, path: Path) -> str:
        """Return a file's name in the folder, which may be moved before it is sent."""
        whole, folder = path.absolute(), self._folder.absolute()
        return str(whole.relative_to(folder) if whole.is_relative_to(folder) else whole)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _texts(params: Mapping[str, Param]) -> dict[str, str]:
    return {entries.key(key): entries.text(str(value)) for key, value in params.items()}


def _tags(tags: Mapping[str, str]) -> dict[str, str]:
    return {entries.key(key): entries.text(value) for key, value in tags.items()}


def _user() -> str:
    try:
        return getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"
