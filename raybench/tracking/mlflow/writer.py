"""Sends a run's spool to a server: in order, in batches, and the same twice as once.

Every run of MLflow's bears the tag `spool`, by which it is found again: whoever was killed between
making it and noting its id makes no second one. Points, tags, parameters, inputs and files are the
same when they are written again, so that what may have been sent is sent again.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from raybench.tracking.mlflow import entries, spool, store
from raybench.tracking.mlflow.spool import PARENT, Entry, Sent
from raybench.tracking.uri import absolute, probe, redacted, sqlite_path

T = TypeVar("T")

_METRICS, _TEXTS = 1000, 100  # MLflow's own limits for one log_batch
_GATHERED = 5000
"""So many points are in memory at once."""
_KEY, _ABOVE = "spool", "mlflow.parentRunId"
_REFUSED = "INVALID_PARAMETER_VALUE"


class Writer:
    """Sends what one run's folder has for one server; by its caller's care it is the only one.

    What MLflow, its database, the network or the disk raises goes through: what was not sent is
    sent the next time.
    """

    def __init__(self, folder: Path, uri: str, *, moved: Callable[[], None] = lambda: None) -> None:
        """`moved` is called whenever the server has answered."""
        self._folder = folder
        self._uri = absolute(uri)
        self._moved = moved
        self._client: Any = None
        self._known = spool.sent_to(folder, redacted(self._uri))
        self._models: tuple[str, ...] = ()
        self._points: dict[str, list[Any]] = {}
        self._gathered = 0
        self.refused: list[str] = []
        """What MLflow will not take, however often it is sent."""

    @property
    def run_id(self) -> str | None:
        """The parent run's id, once it is there."""
        return self._known.run_id

    @property
    def unsent(self) -> bool:
        """Tell whether the folder has something that the server does not."""
        return spool.sent_to(self._folder, self._known.uri).sent < spool.size(self._folder)

    def send(self, *, over: bool = True) -> bool:
        """Send what is unsent; tell whether all of it is. Files go once the run is over."""
        try:
            if self._client is None:
                self._connect()
            return self._send(over)
        except BaseException:
            self._client = None  # who knows what became of it: the next time begins anew
            self._points.clear()
            self._gathered = 0
            raise

    # ------------------------------------------------------------------ in order

    def _connect(self) -> None:
        probe(self._uri)
        self._moved()
        self._client = store.client(self._uri)  # which imports MLflow: on a busy machine that takes
        self._moved()
        # What is sent to again is not given up.
        self._known = replace(spool.sent_to(self._folder, redacted(self._uri)), instead="")
        began = None
        for entry, place in spool.read(self._folder):
            if place <= self._known.sent and entry["kind"] == "open":
                began = entry, place
        if began is None:
            self._known = Sent(self._known.uri)
        elif self._open(began[0]):  # somebody deleted them, or it is another store by now
            self._known.sent = began[1]

    def _send(self, over: bool) -> bool:
        last = spool.opened(self._folder)
        place = self._known.sent
        for entry, after in spool.read(self._folder, place):
            if entry["kind"] == "points":
                self._gather(entry)
                if self._gathered >= _GATHERED:
                    self._flush(after)
            else:
                self._flush(place)
                if entry["kind"] == "files" and not over:
                    return False
                if entry["kind"] != "files" or last is None or last["key"] == self._known.key:
                    self._write(entry)  # files that were superseded are no longer there
                self._told(after)
            place = after
        self._flush(place)
        return True

    def _write(self, entry: Entry) -> None:
        match entry["kind"]:
            case "open":
                self._open(entry)
            case "again":
                self._again(entry)
            case "tags":
                for run, tags in entry["tags"].items():
                    self._tag(run, tags)
            case "superseded":
                for run in (PARENT, *self._models):
                    self._tag(run, {"superseded": "true"})
            case "inputs":
                self._inputs(entry["inputs"])
            case "end":
                self._end(entry)
            case "files":
                for path in map(Path, entry["paths"]):
                    self._keep(self._folder / path, path.parent)  # they lie as in the folder

    def _told(self, place: int) -> None:
        self._known.sent = place
        spool.remember(self._folder, self._known)

    def _do(self, method: str, *args: Any, **named: Any) -> Any:
        """Call the client; note what it refuses for good, which must not keep back all the rest."""
        from mlflow.exceptions import MlflowException

        try:
            found = getattr(self._client, method)(*args, **named)
        except MlflowException as error:
            if error.error_code != _REFUSED or not method.startswith("log_"):
                raise
            self.refused.append(str(error))
            return None
        self._moved()
        return found

    # ------------------------------------------------------------------ runs

    def _open(self, entry: Entry) -> bool:
        """Make sure that the runs are there; tell whether one had to be made."""
        experiment = self._experiment(entry["experiment"])
        self._models = tuple(model for model in entry["params"] if model != PARENT)
        there = self._find(experiment, entry["key"])
        runs: dict[str, str] = {}
        for run in (PARENT, *self._models):
            if (found := there.get(entries.text(run))) is None:
                own = {"model": run, _ABOVE: runs[PARENT]} if run else {}
                runs[run] = self._create(experiment, entry, run, own)
            else:
                runs[run] = str(found.info.run_id)
            known = {} if found is None else found.data.params
            self._params(runs[run], entry["params"][run], known)
        parent = runs.pop(PARENT)
        self._known = Sent(self._known.uri, parent, runs, entry["key"], self._known.sent)
        self._nest()
        self._adopt()
        return len(there) <= len(runs)

    def _create(self, experiment: str, entry: Entry, run: str, own: Mapping[str, str]) -> str:
        tags = {"mlflow.user": entry["user"], **entry["tags"], **own, _KEY: entry["key"]}
        made = self._do(
            "create_run",
            experiment,
            start_time=entry["started_ms"],
            run_name=entries.text(run or entry["name"]),
            tags={name: entries.text(value) for name, value in tags.items()},
        )
        return str(made.info.run_id)

    def _find(self, experiment: str, key: str) -> dict[str, Any]:
        """Return the runs that were made for this spool, by model."""
        found: dict[str, Any] = {}
        token = None
        while True:
            page = self._do("search_runs", [experiment], f"tags.{_KEY} = '{key}'", page_token=token)
            found.update({run.data.tags.get("model", PARENT): run for run in page})
            token = page.token
            if not token:
                return found

    def _experiment(self, name: str) -> str:
        from mlflow.exceptions import MlflowException

        path = sqlite_path(self._uri)
        found = self._client.get_experiment_by_name(name)
        if found is None:
            # Left to itself MLflow puts the files of a SQLite store into the current folder.
            place = str(path.parent / "mlartifacts") if path else None
            try:
                return str(self._client.create_experiment(name, place))
            except MlflowException as error:
                if error.error_code != "RESOURCE_ALREADY_EXISTS":
                    raise
            found = self._client.get_experiment_by_name(name)  # another was quicker
        return str(found.experiment_id)

    def _again(self, entry: Entry) -> None:
        from mlflow.exceptions import MlflowException

        for run in (PARENT, *self._models):
            run_id = self._run(run)
            self._do("update_run", run_id, status="RUNNING")
            tags = entry["tags"]
            # The run above is the parent's alone: the models' stand below the parent.
            self._tag(run, {key: tags[key] for key in tags if key != _ABOVE or run == PARENT})
            with contextlib.suppress(MlflowException):  # why it ended before, if there was a reason
                self._do("delete_tag", run_id, "reason")
            params = entry["params"].get(run, {})
            self._params(run_id, params, self._do("get_run", run_id).data.params)

        self._nest()

    def _nest(self) -> None:
        """Put a part below the whole, which this server may have come to know only now."""
        whole = spool.above(self._folder)
        if whole and (run_id := spool.sent_to(whole, self._known.uri).run_id):
            self._tag(PARENT, {_ABOVE: run_id})

    def _adopt(self) -> None:
        """Put below the whole what this server had of its parts before."""
        from mlflow.exceptions import MlflowException

        for part in spool.parts(self._folder):
            if run_id := spool.sent_to(part, self._known.uri).run_id:
                try:
                    self._client.set_tag(run_id, _ABOVE, self._known.run_id)
                except MlflowException as error:
                    if error.error_code not in (_REFUSED, "RESOURCE_DOES_NOT_EXIST"):
                        raise  # else somebody deleted it

    def _end(self, entry: Entry) -> None:
        self._nest()
        for run in (*self._models, PARENT):
            status = entry["status"]
            if (reason := entry["failed"].get(run)) is not None:
                status = "FAILED"
                self._tag(run, {"reason": reason})
            self._do("set_terminated", self._run(run), status, entry["ended_ms"])

    def _run(self, run: str) -> str:
        return self._known.runs()[run]

    # ------------------------------------------------------------------ what they hold

    def _params(self, run_id: str, params: Mapping[str, str], there: Mapping[str, str]) -> None:
        """Write the parameters that are not there yet: MLflow refuses to change one."""
        from mlflow.entities import Param

        fresh = [Param(key, value) for key, value in params.items() if key not in there]
        for part in _parts(fresh, _TEXTS):
            self._do("log_batch", run_id, params=part)

    def _tag(self, run: str, tags: Mapping[str, str]) -> None:
        from mlflow.entities import RunTag

        every = [RunTag(key, value) for key, value in tags.items()]
        for part in _parts(every, _TEXTS):
            self._do("log_batch", self._run(run), tags=part)

    def _gather(self, entry: Entry) -> None:
        for run, *point in entry["points"]:
            self._points.setdefault(run, []).append(point)
            self._gathered += 1

    def _flush(self, place: int) -> None:
        from mlflow.entities import Metric

        if not self._points:
            return
        for run, points in self._points.items():
            if run not in self._known.runs():
                continue  # results may be of others than the models, which have no run
            for part in _parts(points, _METRICS):
                self._do("log_batch", self._run(run), metrics=[Metric(*point) for point in part])
        self._points.clear()
        self._gathered = 0
        self._told(place)

    def _inputs(self, datasets: Sequence[Mapping[str, str]]) -> None:
        from mlflow.entities import Dataset, DatasetInput, InputTag

        every = [
            DatasetInput(Dataset(**each), [InputTag("mlflow.data.context", "eval")])
            for each in datasets
        ]
        for run in (PARENT, *self._models) if every else ():
            self._do("log_inputs", self._run(run), datasets=every)

    def _keep(self, path: Path, place: Path) -> None:
        """Keep a file or all of a folder, a file at a time: each is a sign of life.

        What is not in the run's folder stays where it is: a folder from somebody else would send
        away whatever it names, or has links to.
        """
        if not path.resolve().is_relative_to(self._folder.resolve()):
            self.refused.append(f"'{path}' is not in the run's folder, and was not sent")
        elif path.is_dir():
            for each in sorted(path.iterdir()):
                self._keep(each, place / path.name)
        elif path.exists():
            into = place.as_posix() if place.parts else None
            self._do("log_artifact", self._run(PARENT), str(path), into)


def _parts(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), most):
        yield items[start : start + most]
