"""What a run tells MLflow. Tracking never stops an evaluation: all goes to a spool first.

From there it is sent while the run goes on, and what fails later: the run's folder has everything.
"""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from getpass import getuser
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import uuid4

from raybench.tracking.mlflow import described, entries
from raybench.tracking.mlflow.sender import Sender
from raybench.tracking.mlflow.spool import PARENT, Entry, Spool
from raybench.tracking.text import one_line
from raybench.tracking.uri import absolute, redacted

Param = str | int | float | bool


class _Point(NamedTuple):
    run: str
    key: str
    value: float
    timestamp: int
    step: int


class Tracker:
    """The runs of one invocation in MLflow. Every method returns normally, whatever MLflow does.

    Only `run_id` and `close` wait for it, for some seconds.
    """

    def __init__(self, spool: Spool | None, folder: Path, sender: Sender, warn: Any) -> None:
        """Without a spool nothing is told."""
        self._spool, self._folder, self._sender, self._warn = spool, folder, sender, warn
        self._broken = False
        """Some of it could not be written down, and is lost to MLflow."""
        self._started_ms = _now_ms()
        self._models: list[str] = []
        self._known: set[_Point] = set()
        self._last: dict[tuple[str, str], _Point] = {}
        self._end = (0, 0)
        """Step and time of the last step: results are written at this step, a moment later."""

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
    ) -> "Tracker":
        """Begin the runs, or go on with those that `run_dir` remembers.

        `params` are the parent's parameters, `models` has those of every child. `tags` are
        everybody's: with 'mlflow.parentRunId' the parent hangs below another run. With `supersede`
        the remembered runs stay as they are, and new ones take their place: what MLflow once has
        of a metric or a parameter it cannot lose. Of the runs in `runs_dir` is sent what they could
        not send. Without `send` all of it stays in the run's folder, for `sync` or another run.
        """
        sender = Sender(run_dir, absolute(uri), warn=warn, say=say or warn, runs_dir=runs_dir)
        try:
            spool = Spool(run_dir)
        except OSError as error:
            warn(f"MLflow is not told of this run: {run_dir} cannot be written to: {error}")
            return cls(None, run_dir, sender, warn)
        tracker = cls(spool, run_dir, sender, warn)
        texts = {run: _texts(values) for run, values in {PARENT: params, **models}.items()}
        begun = any(entry["kind"] == "open" for entry in spool.entries)
        if begun and not supersede:
            tracker._go_on(spool.entries)
            tracker._tell("again", tags=_tags(tags) | {"resumed": "true"}, params=texts)
        else:
            if begun:
                tracker._tell("superseded")
            tracker._models = [*models]
            tracker._tell(
                "open",
                key=uuid4().hex,
                uri=redacted(absolute(uri)),
                experiment=experiment,
                name=run_name,
                user=_user(),
                started_ms=tracker._started_ms,
                tags={"resumed": "false", **_tags(tags)},
                params=texts,
            )
        spool.entries.clear()
        if send:
            sender.start()
        return tracker

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
        fresh = []
        for run, values in [*per_model.items(), (PARENT, overall)]:
            for key, value in values.items():
                if (number := entries.number(value)) is not None:
                    point = _Point(run, entries.key(key), number, timestamp_ms, step)
                    if point not in self._known:
                        self._enter(point)
                        fresh.append(point)
        self._end = max(self._end, (step, timestamp_ms))
        if fresh:
            self._tell("points", durable=False, points=fresh)

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
        fresh = [
            point
            for run, key, value in described.numbers(results)
            if (point := self._final(run, entries.key(key), entries.number(value)))
        ]
        self._tell("points", final=True, points=fresh)
        self._tell("inputs", inputs=described.inputs(results, inputs))
        self._close(
            "FINISHED",
            described.tags(results) | _tags(tags),
            artifacts,
            described.failures(results),
            {"mlflow.note.content": described.note(note)} if note else {},
        )

    def fail(self, reason: str, artifacts: Sequence[Path] = ()) -> None:
        """Tell that the runs FAILED for a reason in words, and keep the artifacts there are."""
        self._close("FAILED", {"reason": entries.text(reason)}, artifacts)

    def interrupted(self, reason: str) -> None:
        """Tell that the runs were KILLED: a person or a signal ended them; they may be resumed."""
        self._close("KILLED", {"reason": entries.text(reason)}, ())

    def close(self) -> None:
        """Send the rest and the artifacts; what the server does not take stays in the folder."""
        if self._spool is not None:
            self._spool.close()
            self._spool = None
        self._sender.close()

    def _tell(self, kind: str, *, durable: bool = True, **entry: Any) -> None:
        if self._spool is None:
            return
        try:
            self._spool.append({"kind": kind, **entry}, durable=durable)
        except (OSError, ValueError) as error:
            self._warn(
                f"MLflow is not told the rest of this run: {self._folder} cannot be written to: "
                f"{one_line(str(error), 300)}"
            )
            with contextlib.suppress(OSError):  # what it still has to write fails again
                self._spool.close()
            self._spool, self._broken = None, True
        self._sender.wake()

    def _close(
        self,
        status: str,
        tags: Mapping[str, str],
        artifacts: Sequence[Path],
        failed: Mapping[str, str] = MappingProxyType({}),
        own: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        models = {run: dict(tags) for run in (*self._models, PARENT)}
        models[PARENT] |= own
        self._tell("tags", tags=models)
        self._tell("end", status=status, ended_ms=_now_ms(), failed=dict(failed))
        # Files come last: a store of files that fails must not leave the run open for ever.
        self._tell("files", paths=[self._named(path) for path in artifacts])

    def _named(self, path: Path) -> str:
        """Return a file's name in the folder, which may be moved before it is sent."""
        whole, folder = path.absolute(), self._folder.absolute()
        return str(whole.relative_to(folder) if whole.is_relative_to(folder) else whole)

    def _go_on(self, told: Sequence[Entry]) -> None:
        """Remember what was told already since the runs that count began."""
        for entry in told:
            if entry["kind"] == "open":
                self._started_ms = entry["started_ms"]
                self._models = [run for run in entry["params"] if run != PARENT]
                self._known.clear()
                self._last.clear()
                self._end = (0, 0)
            elif entry["kind"] == "points":
                for each in entry["points"]:
                    point = _Point(*each)
                    self._enter(point)
                    if not entry.get("final"):
                        self._end = max(self._end, (point.step, point.timestamp))

    def _enter(self, point: _Point) -> None:
        self._known.add(point)
        last = self._last.get((point.run, point.key))
        if last is None or (point.step, point.timestamp) >= (last.step, last.timestamp):
            self._last[point.run, point.key] = point

    def _final(self, run: str, key: str, value: float | None) -> _Point | None:
        """Return a result as a point that is the metric's latest; None where it is that already."""
        if value is None:
            return None
        (step, moment), last = self._end, self._last.get((run, key))
        moment = (moment or self._started_ms) + 1
        if last is not None and last.step == step:
            if last.value == value:
                return None
            moment = max(moment, last.timestamp + 1)  # it was concluded to another number before
        point = _Point(run, key, value, moment, step)
        self._enter(point)
        return point


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
