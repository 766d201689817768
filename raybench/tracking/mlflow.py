"""MLflow: one parent run per invocation and one child run per model, written by one process.

Tracking never stops an evaluation. When MLflow fails, that is said once; the run goes on, keeps
what it could not write, and tries once more when it ends. The run directory holds everything.
"""

import json
import logging
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from getpass import getuser
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, SupportsFloat, TypeVar

from raybench.tracking.text import one_line, printable
from raybench.tracking.uri import (
    absolute,
    check_uri,
    masked,
    probe,
    redacted,
    sqlite_path,
    ui_command,
)

__all__ = ["Tracker", "check_uri", "ui_command"]

Param = str | int | float | bool
T = TypeVar("T")

_LOCK_SECONDS = 120.0
_FLUSH_SECONDS = 1.0
_BATCH_METRICS, _BATCH_TEXTS = 1000, 100  # MLflow's own limits for one log_batch
_MOST_KEY, _MOST_TEXT = 250, 5000
_PARENT = ""  # the parent's place among the runs; models are never named so
_FORBIDDEN = re.compile(r"[^\w\-. :/]", re.ASCII)


class _Point(NamedTuple):
    key: str
    value: float
    timestamp: int
    step: int


class Tracker:
    """The runs of one invocation in MLflow. Every method returns normally, whatever MLflow does.

    Calls may block for some seconds while a server is slow: from asyncio, use a thread.
    """

    def __init__(
        self,
        *,
        uri: str,
        experiment: str,
        run_dir: Path,
        run_name: str,
        models: Sequence[str],
        params: Mapping[str, Param],
        tags: Mapping[str, str],
        warn: Callable[[str], None],
    ) -> None:
        """Remember what to write; `open` is what connects."""
        self._uri = absolute(uri)
        self._experiment = experiment
        self._run_dir = run_dir
        self._run_name = run_name
        self._models = tuple(models)
        self._params = {_key(key): _text(str(value)) for key, value in params.items()}
        self._tags = {_key(key): _text(value) for key, value in tags.items()}
        self._warn = warn
        self._client: Any = None
        self._runs: dict[str, str] = {}
        self._started_ms = 0
        self._broken = False
        self._warned = False
        self._pending: dict[str, list[_Point]] = {}
        self._flushed = -math.inf
        self._last: dict[tuple[str, str], _Point] = {}
        self._end = _Point("", 0.0, 0, 0)
        """Where the steps end: the results are written at this step, a moment later."""

    @classmethod
    def open(
        cls,
        *,
        uri: str,
        experiment: str,
        run_dir: Path,
        run_name: str,
        models: Sequence[str],
        params: Mapping[str, Param],
        tags: Mapping[str, str],
        warn: Callable[[str], None],
    ) -> "Tracker":
        """Create the runs, or reopen those that `run_dir` remembers.

        A tracker that could not reach MLflow is still usable: its `run_id` is None.
        """
        tracker = cls(
            uri=uri,
            experiment=experiment,
            run_dir=run_dir,
            run_name=run_name,
            models=models,
            params=params,
            tags=tags,
            warn=warn,
        )
        tracker._attempt("opening the run", tracker._connect)
        return tracker

    @property
    def run_id(self) -> str | None:
        """The parent run's id, or None where MLflow could not be reached."""
        return self._runs.get(_PARENT)

    def log_step(
        self,
        per_model: Mapping[str, Mapping[str, float]],
        overall: Mapping[str, float],
        *,
        step: int,
        timestamp_ms: int,
    ) -> None:
        """Write one step's metrics; the same step written again changes nothing.

        Steps that come within a second of each other go out together, so that a resumed run may
        log its whole journal again at little cost.
        """
        for run, values in [*per_model.items(), (_PARENT, overall)]:
            for key, value in values.items():
                number = _number(value)
                if number is not None:
                    self._add(run, _Point(_key(key), number, timestamp_ms, step))
        if (step, timestamp_ms) >= (self._end.step, self._end.timestamp):
            self._end = _Point("", 0.0, timestamp_ms, step)
        if monotonic() - self._flushed >= _FLUSH_SECONDS:
            self._attempt("writing metrics", self._flush)

    def finish(self, results: Mapping[str, Any], artifacts: Sequence[Path]) -> None:
        """Write the numbers of results.json, keep the artifacts, mark the runs FINISHED."""
        tags = {"simulated": "true"} if results.get("simulated") else {}
        self._close("FINISHED", tags, artifacts, results)

    def fail(self, reason: str, artifacts: Sequence[Path] = ()) -> None:
        """Mark the runs FAILED for a reason in words, and keep the artifacts there are."""
        self._close("FAILED", {"reason": _text(reason)}, artifacts)

    def interrupted(self, reason: str) -> None:
        """Mark the runs KILLED: a person or a signal ended them, and they may be resumed."""
        self._close("KILLED", {"reason": _text(reason)}, ())

    # ------------------------------------------------------------------ failing without harm

    def _attempt(self, what: str, action: Callable[[], None]) -> bool:
        """Do it unless MLflow is known to fail; report the first failure."""
        if self._broken:
            return False
        try:
            action()
        # MLflow, SQLAlchemy, HTTP and file errors alike: none may end an evaluation.
        except Exception as error:
            self._broken = True
            if not self._warned:
                self._warned = True
                self._warn(
                    f"MLflow failed while {what} ({redacted(self._uri)}): "
                    f"{type(error).__name__}: {one_line(masked(str(error), self._uri), 300)}. "
                    f"The run goes on without it; its results are safe in {self._run_dir}."
                )
            return False
        return True

    def _close(
        self,
        status: str,
        tags: Mapping[str, str],
        artifacts: Sequence[Path],
        results: Mapping[str, Any] | None = None,
    ) -> None:
        again, self._broken = self._broken, False

        def end() -> None:
            self._connect()
            self._flush()
            if results is not None:
                self._log_results(results)
            for run in [*self._models, _PARENT]:
                for key, value in tags.items():
                    self._client.set_tag(self._runs[run], key, value)
                self._client.set_terminated(self._runs[run], status)

        # Artifacts come last: a store of files that fails must not leave the run open for ever.
        if self._attempt("closing the run", end) and again:
            self._warn(f"MLflow answers again: this run was written to {redacted(self._uri)}.")
        self._attempt("keeping artifacts", lambda: self._keep(artifacts))

    # ------------------------------------------------------------------ runs

    def _connect(self) -> None:
        """Make sure that the store answers and our runs exist in it; harmless when repeated."""
        probe(self._uri)
        if self._runs:
            return
        self._client = _client(self._uri, self._lock)
        stored = _read(self._run_dir / "mlflow.json")
        parent = self._reopen(stored.get("run_id"))
        runs = {_PARENT: parent or self._create(self._run_name, {})}
        # Written at once: whoever kills us here finds this parent again instead of a second one.
        self._remember(runs)
        children = stored.get("models") if parent else None
        for model in self._models:
            known = children.get(model) if isinstance(children, dict) else None
            tags = {"mlflow.parentRunId": runs[_PARENT], "model": _text(model)}
            runs[model] = self._reopen(known) or self._create(_text(model), tags)
        self._remember(runs)
        self._log_params(runs[_PARENT])
        self._runs = runs

    def _lock(self) -> AbstractContextManager[Any]:
        """Let one process at a time set up a SQLite store: several at once broke one for good."""
        path = sqlite_path(self._uri)
        if path is None:
            return nullcontext()
        from filelock import FileLock

        path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(f"{path}.lock", timeout=_LOCK_SECONDS)

    def _reopen(self, run_id: object) -> str | None:
        """Set a stored run RUNNING again; None where the store no longer has it."""
        if not isinstance(run_id, str):
            return None
        from mlflow.exceptions import MlflowException

        try:
            run = self._client.get_run(run_id)
        except MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return None
            raise
        if run.info.lifecycle_stage != "active":
            return None
        self._client.update_run(run_id, status="RUNNING")
        self._client.set_tag(run_id, "resumed", "true")
        self._started_ms = self._started_ms or run.info.start_time
        return run_id

    def _create(self, name: str, tags: Mapping[str, str]) -> str:
        everyone = {"mlflow.user": _user(), **self._tags}
        run = self._client.create_run(
            self._experiment_id(), run_name=name, tags={**everyone, **tags}
        )
        self._started_ms = self._started_ms or run.info.start_time
        return str(run.info.run_id)

    def _experiment_id(self) -> str:
        from mlflow.exceptions import MlflowException

        path = sqlite_path(self._uri)
        found = self._client.get_experiment_by_name(self._experiment)
        if found is None:
            # Left to itself MLflow puts the files of a SQLite store into the current folder.
            place = str(path.parent / "mlartifacts") if path else None
            try:
                return str(self._client.create_experiment(self._experiment, place))
            except MlflowException as error:
                if error.error_code != "RESOURCE_ALREADY_EXISTS":
                    raise
            found = self._client.get_experiment_by_name(self._experiment)  # another was quicker
        return str(found.experiment_id)

    def _remember(self, runs: Mapping[str, str]) -> None:
        models = {model: run_id for model, run_id in runs.items() if model != _PARENT}
        record = {"uri": redacted(self._uri), "run_id": runs[_PARENT], "models": models}
        self._run_dir.mkdir(parents=True, exist_ok=True)
        fresh = self._run_dir / "mlflow.json.new"
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(record, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._run_dir / "mlflow.json")

    def _log_params(self, run_id: str) -> None:
        """Write the parameters that are not there yet: MLflow refuses to change one."""
        from mlflow.entities import Param as Entity

        there = self._client.get_run(run_id).data.params
        fresh = [Entity(key, value) for key, value in self._params.items() if key not in there]
        for part in _parts(fresh, _BATCH_TEXTS):
            self._client.log_batch(run_id, params=part)

    # ------------------------------------------------------------------ metrics and files

    def _add(self, run: str, point: _Point) -> None:
        self._pending.setdefault(run, []).append(point)
        known = self._last.get((run, point.key))
        if known is None or point.step >= known.step:
            self._last[run, point.key] = point

    def _flush(self) -> None:
        from mlflow.entities import Metric

        for run, points in self._pending.items():
            if run in self._runs:
                for part in _parts(points, _BATCH_METRICS):
                    metrics = [Metric(p.key, p.value, p.timestamp, p.step) for p in part]
                    self._client.log_batch(self._runs[run], metrics=metrics)
        # Only now: had one failed, all would go again, and what is there already stays single.
        self._pending.clear()
        self._flushed = monotonic()

    def _log_results(self, results: Mapping[str, Any]) -> None:
        for model, metrics in results.get("models", {}).items():
            for key, estimate in metrics.items():
                for name, value in _flat_estimate(key, estimate):
                    self._add_final(model, name, value)
        for model, counts in results.get("counts", {}).items():
            for name, value in counts.items():
                self._add_final(model, f"counts/{name}", value)
        for name, value in _numbers("agreement", results.get("agreement", {})):
            self._add_final(_PARENT, name, value)
        self._flush()

    def _add_final(self, run: str, key: str, value: object) -> None:
        """Add a result so that it is the metric's latest value, in a run closed twice too."""
        number = _number(value)
        if number is None:
            return
        key, step = _key(key), self._end.step
        known = self._last.get((run, key))
        if known is None or (known.value, known.step) != (number, step):
            moment = (self._end.timestamp or self._started_ms) + 1
            self._add(run, _Point(key, number, moment, step))

    def _keep(self, artifacts: Sequence[Path]) -> None:
        for path in artifacts:
            if path.is_dir():
                self._client.log_artifacts(self._runs[_PARENT], str(path), path.name)
            elif path.exists():
                self._client.log_artifact(self._runs[_PARENT], str(path))


def _client(uri: str, lock: Callable[[], AbstractContextManager[Any]]) -> Any:
    """Return a client of its own: nothing of MLflow's global state is read or changed."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    # It would print a link for each model on stdout, where the leaderboard goes.
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    # MLflow's own patience (seven retries, two minutes each) would hold a run up for minutes.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
    with lock():
        from mlflow import MlflowClient

        # What goes wrong reaches the person through `warn`; the rest would tear the progress line.
        for name in ("mlflow", "alembic", "sqlalchemy.engine", "urllib3.connectionpool"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        if (path := sqlite_path(uri)) and not path.exists():
            _create_store(path)
        client = MlflowClient(tracking_uri=uri)
        client.search_experiments(max_results=1)  # moves an older store on, while we hold the lock
        return client


def _create_store(path: Path) -> None:
    """Make the store aside and put it in place whole: MLflow cannot go on from a half-made one.

    In a process of its own, because SQLAlchemy keeps its hold on the file by the name it opened.
    """
    aside = path.with_name(f".{path.name}.new")
    aside.unlink(missing_ok=True)
    code = "import sys, mlflow; mlflow.MlflowClient(sys.argv[1]).search_experiments(max_results=1)"
    subprocess.run(
        [sys.executable, "-c", code, f"sqlite:///{aside.absolute()}"],
        cwd=path.parent,
        capture_output=True,
        timeout=_LOCK_SECONDS,
        check=True,
    )
    aside.replace(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _flat_estimate(key: str, estimate: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield key, estimate.get("value")
    low, high = estimate.get("ci95") or (None, None)
    yield f"{key}/ci_low", low
    yield f"{key}/ci_high", high
    yield f"{key}/n", estimate.get("n")
    yield f"{key}/stderr", estimate.get("stderr")


def _numbers(prefix: str, tree: object) -> Iterator[tuple[str, object]]:
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from _numbers(f"{prefix}/{key}", value)
    else:
        yield prefix, tree


def _number(value: object) -> float | None:
    """Return a finite number, numpy's included, or None for what MLflow could not show."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _key(text: str) -> str:
    """Return a name that MLflow takes: it refuses some characters, '..' and leading slashes."""
    parts = [part for part in _FORBIDDEN.sub("_", text).split("/") if part not in ("", ".", "..")]
    return "/".join(parts)[:_MOST_KEY].rstrip("/") or "_"


def _text(text: str) -> str:
    return printable(text)[:_MOST_TEXT]


def _user() -> str:
    try:
        return getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"


def _parts(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), most):
        yield items[start : start + most]
