"""MLflow: one parent run per invocation and one child run per model, written by one process.

Tracking never stops an evaluation. When MLflow fails, that is said once; the run goes on, keeps
what it could not write, and tries once more when it ends. The run directory holds everything.
"""

import contextlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from getpass import getuser
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from raybench.tracking import mlflow_entries as entries
from raybench.tracking import mlflow_store
from raybench.tracking.text import one_line
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

_FLUSH_SECONDS = 1.0
_BATCH_METRICS, _BATCH_TEXTS = 1000, 100  # MLflow's own limits for one log_batch
_DIGEST = 36  # and for what a dataset is known by
_PARENT = ""  # the parent's place among the runs; models are never named so


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
        models: Mapping[str, Mapping[str, Param]],
        params: Mapping[str, Param],
        tags: Mapping[str, str],
        warn: Callable[[str], None],
        supersede: bool = False,
    ) -> None:
        """Remember what to write; `open` is what connects."""
        self._uri = absolute(uri)
        self._experiment = experiment
        self._run_dir = run_dir
        self._run_name = run_name
        self._models = tuple(models)
        self._params = {run: _texts(values) for run, values in {**models, _PARENT: params}.items()}
        self._tags = {entries.key(key): entries.text(value) for key, value in tags.items()}
        self._warn = warn
        self._supersede = supersede
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
        models: Mapping[str, Mapping[str, Param]],
        params: Mapping[str, Param],
        tags: Mapping[str, str],
        warn: Callable[[str], None],
        supersede: bool = False,
    ) -> "Tracker":
        """Create the runs, or reopen those that `run_dir` remembers.

        `params` are the parent's parameters, `models` has those of every child. With `supersede`
        the remembered runs stay as they are, and new ones take their place: what MLflow once has
        of a metric or a parameter it cannot lose.
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
            supersede=supersede,
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
                number = entries.number(value)
                if number is not None:
                    self._add(run, _Point(entries.key(key), number, timestamp_ms, step))
        if (step, timestamp_ms) >= (self._end.step, self._end.timestamp):
            self._end = _Point("", 0.0, timestamp_ms, step)
        if monotonic() - self._flushed >= _FLUSH_SECONDS:
            self._attempt("writing metrics", self._flush)

    def finish(self, results: Mapping[str, Any], artifacts: Sequence[Path]) -> None:
        """Write the numbers of results.json, keep the artifacts, mark the runs FINISHED.

        Where models failed, the parent is FAILED, and so are theirs, with the reason.
        """
        failed = dict(results.get("run", {}).get("failed", {}))
        if failed:
            failed[_PARENT] = "; ".join(f"{model}: {reason}" for model, reason in failed.items())
        concluded = results.get("run", {}).get("concluded_with", {})
        tags = {name: entries.text(str(value).lower()) for name, value in concluded.items()}
        if results.get("simulated"):
            tags["simulated"] = "true"
        tags |= entries.of_programs(results.get("run", {}).get("programs", {}).get("ran", ()))
        self._close("FINISHED", tags, artifacts, results, failed)

    def fail(self, reason: str, artifacts: Sequence[Path] = ()) -> None:
        """Mark the runs FAILED for a reason in words, and keep the artifacts there are."""
        self._close("FAILED", {"reason": entries.text(reason)}, artifacts)

    def interrupted(self, reason: str) -> None:
        """Mark the runs KILLED: a person or a signal ended them, and they may be resumed."""
        self._close("KILLED", {"reason": entries.text(reason)}, ())

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
        failed: Mapping[str, str] = MappingProxyType({}),
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
                if run in failed:
                    self._client.set_tag(self._runs[run], "reason", entries.text(failed[run]))
                self._client.set_terminated(self._runs[run], "FAILED" if run in failed else status)

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
        self._client = mlflow_store.client(self._uri)
        stored = _read(self._run_dir / "mlflow.json")
        if self._supersede:
            stored = self._superseded(stored)
        parent = self._reopen(stored.get("run_id"))
        runs = {_PARENT: parent or self._create(self._run_name, {})}
        # Written at once: whoever kills us here finds this parent again instead of a second one.
        self._remember(runs)
        self._supersede = False
        children = stored.get("models") if parent else None
        for model in self._models:
            known = children.get(model) if isinstance(children, dict) else None
            tags = {"mlflow.parentRunId": runs[_PARENT], "model": entries.text(model)}
            runs[model] = self._reopen(known) or self._create(entries.text(model), tags)
        self._remember(runs)
        for run, params in self._params.items():
            self._log_params(runs[run], params)
        self._runs = runs

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
        if "reason" in run.data.tags:  # why it ended before it was resumed
            self._client.delete_tag(run_id, "reason")
        self._started_ms = self._started_ms or run.info.start_time
        return run_id

    def _superseded(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Mark the stored runs as those that others replace; nothing of them is used again."""
        from mlflow.exceptions import MlflowException

        children = stored.get("models")
        known = [stored.get("run_id"), *(children.values() if isinstance(children, dict) else ())]
        for run_id in known:
            if isinstance(run_id, str):
                with contextlib.suppress(MlflowException):  # somebody has deleted it
                    self._client.set_tag(run_id, "superseded", "true")
        return {}

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

    def _log_params(self, run_id: str, params: Mapping[str, str]) -> None:
        """Write the parameters that are not there yet: MLflow refuses to change one."""
        from mlflow.entities import Param as Entity

        there = self._client.get_run(run_id).data.params
        fresh = [Entity(key, value) for key, value in params.items() if key not in there]
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
                for name, value in entries.of_estimate(key, estimate):
                    self._add_final(model, name, value)
        for model, counts in results.get("counts", {}).items():
            for name, value in counts.items():
                self._add_final(model, f"counts/{name}", value)
        for other, of in results.get("agreement", {}).items():
            for key, estimate in of.items():
                for name, value in entries.of_estimate(f"agreement/{other}/{key}", estimate):
                    self._add_final(_PARENT, name, value)
        account = results.get("fleet", {}).get("this_session", {})
        for name, value in entries.of_tree("fleet", account.get("total", {})):
            self._add_final(_PARENT, name, value)
        self._flush()
        self._log_data(results.get("run", {}).get("data", {}))

    def _log_data(self, data: Mapping[str, Mapping[str, Any]]) -> None:
        """Write what was asked as everybody's inputs, known by the digest of the questions."""
        from mlflow.entities import Dataset, DatasetInput, InputTag

        inputs = [
            DatasetInput(
                Dataset(
                    name,
                    about["digest"][:_DIGEST],
                    source_type="raybench",
                    source=entries.text(json.dumps({"origin": about["origin"]})),
                    profile=json.dumps({"questions": about["questions"]}),
                ),
                [InputTag("mlflow.data.context", "eval")],
            )
            for name, about in data.items()
        ]
        if inputs:
            for run in self._runs.values():
                self._client.log_inputs(run, datasets=inputs)

    def _add_final(self, run: str, key: str, value: object) -> None:
        """Add a result so that it is the metric's latest value, in a run closed twice too."""
        number = entries.number(value)
        if number is None:
            return
        key, step = entries.key(key), self._end.step
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


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _texts(params: Mapping[str, Param]) -> dict[str, str]:
    return {entries.key(key): entries.text(str(value)) for key, value in params.items()}


def _user() -> str:
    try:
        return getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"


def _parts(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), most):
        yield items[start : start + most]
