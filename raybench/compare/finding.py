"""What a RUN on the command line means: a folder, a run's name, or an id of MLflow's."""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from raybench.compare.runs import Stored
from raybench.config import storage
from raybench.errors import ConfigurationError, Problem, did_you_mean
from raybench.pipeline.store import CONFIG, REPORT
from raybench.reading import from_json
from raybench.tracking.text import one_line
from raybench.tracking.uri import absolute, check_uri, masked, probe, redacted, sqlite_path

_MLFLOW_ID = re.compile(r"[0-9a-f]{32}")
_RUN_ID = re.compile(r"\d{8}-\d{6}-\d{6}-[0-9a-f]{10}")
_LONGEST = 5000
"""Letters of a word: the longest path there is, and a model's name."""
_ID_TAG, _POINTER = "run", "journal.json"
"""Where MLflow is told a run's name, and where its journal lies."""


@dataclass(frozen=True, slots=True)
class Named:
    """A run as the command line named it."""

    text: str
    run: Stored
    model: str | None = None
    """The one that was picked."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where runs may be."""

    runs: Path = Path("runs")
    tracking: str | None = None
    """MLflow's store; None: where raybench writes if it is told nothing else."""

    @property
    def uri(self) -> str:
        """Return the store to ask."""
        return self.tracking or os.environ.get(
            "MLFLOW_TRACKING_URI", f"sqlite:///{self.runs / 'mlflow.db'}"
        )


def found(text: str, places: Places) -> Named:
    """Return the run that a word of the command line names, be it RUN or RUN:MODEL.

    Raises ConfigurationError where there is none.
    """
    for run, model in _readings(text if len(text) <= _LONGEST else ""):
        if not run:
            continue
        if storage.is_uri(run):
            from raybench.pipeline.storage import reading

            if (stored := reading.fetched(run)) is not None:
                return _picked(text, Stored.at(stored), model)
            continue
        if os.path.isdir(run):  # noqa: PTH112 - a word that is too long for a path is none
            return _picked(text, Stored.at(Path(run)), model)
        if Path(run).name == CONFIG or Path(run).name == REPORT:
            return _picked(text, Stored.at(Path(run).parent), model)
        if _RUN_ID.fullmatch(run):
            return _picked(text, Stored.at(_by_name(run, places)), model)
        if _MLFLOW_ID.fullmatch(run):
            folder, own = _by_mlflow(run, places)
            return _picked(text, Stored.at(folder), model or own)
    there = sorted(it.parent.parent.name + "/" + it.parent.name for it in _configs(places.runs))
    close = did_you_mean(text, there).partition("There is:")[0] if there else ""
    raise ConfigurationError(
        Problem(
            "run.missing",
            f"'{one_line(text, 200)}' is no run: there is no such folder, and it is no id of "
            "MLflow's (32 digits and letters a–f)",
            given=one_line(text, 200),
            fix=f"{close}Name a run's folder (runs/EXPERIMENT/ID), its ID, or what MLflow calls "
            "it, or where a storage has it (s3://…/EXPERIMENT/ID); RUN:MODEL picks one of its "
            "models",
        )
    )


def _readings(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield how a word can be taken apart: names of folders and models may have colons."""
    yield text, None
    for place in reversed([place for place, letter in enumerate(text) if letter == ":"]):
        yield text[:place], text[place + 1 :]


def _picked(text: str, run: Stored, model: str | None) -> Named:
    if model is not None and model not in run.models:
        raise ConfigurationError(
            Problem(
                "setting.choice",
                f"'{one_line(text, 200)}': {run.folder} has no model '{one_line(model, 100)}'",
                given=model,
                fix=did_you_mean(model, run.models),
            )
        )
    return Named(text, run, model)


def _configs(runs: Path) -> list[Path]:
    return list(_inside(runs, "*", CONFIG))


def _inside(runs: Path, run: str, file: str) -> Iterator[Path]:
    """Yield a file of the runs of this name, those that are parts of others last."""
    for place in ("*", "*/*/parts/*"):
        yield from runs.glob(f"{place}/{run}/{file}")


def _by_name(run: str, places: Places) -> Path:
    there = [it.parent for it in _inside(places.runs, run, CONFIG)]
    if not there:
        raise ConfigurationError(
            Problem(
                "run.missing",
                f"no run {run} is below {places.runs}",
                setting="--runs",
                given=run,
                fix="name its folder, or where runs are with --runs FOLDER",
            )
        )
    return there[0]


def _by_mlflow(run: str, places: Places) -> tuple[Path, str | None]:
    """Return the folder of a run that MLflow calls so, and the model if it is a model's run."""
    homes = [places.runs]
    if path := sqlite_path(places.uri):
        homes.append(path.parent)
    for home in dict.fromkeys(it.absolute() for it in homes):
        if known := _remembered(run, home):
            return known
    tags, parent, folder = _asked(run, places.uri)
    for home in dict.fromkeys(it.absolute() for it in homes):
        name = tags.get(_ID_TAG, "")
        for config in _inside(home, name, CONFIG) if _RUN_ID.fullmatch(name) else ():
            return config.parent, tags.get("model")
        if parent and (known := _remembered(parent, home)):
            return known[0], tags.get("model")
    if folder and Path(folder, CONFIG).is_file():
        return Path(folder), tags.get("model")
    where = f" It was {folder}." if folder else ""
    raise ConfigurationError(
        Problem(
            "run.missing",
            f"MLflow knows the run {run}, but its folder is not on this machine.{where} What is "
            "compared is in the folder's journal",
            setting="--runs",
            given=run,
            fix="copy it here and name it, or say where runs are with --runs FOLDER",
        )
    )


def _remembered(run: str, home: Path) -> tuple[Path, str | None] | None:
    """Look for an id in what runs remember of MLflow."""
    for path in _inside(home, "*", "mlflow.json"):
        try:
            told = from_json(path.read_bytes())
        except (OSError, ValueError):
            continue
        others = told.get("others") if isinstance(told, dict) else None
        for each in [told, *(others if isinstance(others, list) else ())]:
            if not isinstance(each, dict):
                continue
            if each.get("run_id") == run:
                return path.parent, None
            models = each.get("models")
            for model, child in models.items() if isinstance(models, dict) else ():
                if child == run:
                    return path.parent, model
    return None


def _asked(run: str, uri: str) -> tuple[Mapping[str, str], str | None, Path | None]:
    """Return what MLflow's store has of a run: its tags, the run above it, and its folder."""
    check_uri(uri)
    path = sqlite_path(uri)
    if path is not None and not path.exists():
        raise ConfigurationError(
            Problem(
                "run.missing",
                f"no run remembers the MLflow id {run}, and there is no store at {redacted(uri)} "
                "to ask",
                setting="--tracking",
                given=run,
                fix="name the run's folder, or another store with --tracking URI",
            )
        )
    try:
        from raybench.tracking.mlflow import store

        probe(uri)
        client: Any = store.client(absolute(uri))
        found = client.get_run(run)
    # MLflow, SQLAlchemy and HTTP fail in ways of their own.
    except Exception as error:
        raise ConfigurationError(
            Problem(
                "run.missing",
                f"MLflow's store {redacted(uri)} does not tell of the run {run} "
                f"({one_line(masked(str(error), uri), 200)})",
                setting="--tracking",
                given=run,
                fix="name the run's folder, or another store with --tracking URI",
            )
        ) from error
    tags = dict(found.data.tags)
    parent = tags.get("mlflow.parentRunId")
    return tags, parent, _pointed(client, parent or run)


def _pointed(client: Any, run: str) -> Path | None:
    """Return the folder of a run as it told MLflow."""
    with TemporaryDirectory() as folder, contextlib.suppress(Exception):  # as above; or it did not
        told = from_json(Path(client.download_artifacts(run, _POINTER, folder)).read_bytes())
        return Path(told["folder"]).parent
    return None


def all_found(texts: Sequence[str], places: Places) -> list[Named]:
    """Return every run that the command line names; all mistakes are told together."""
    named, wrong = [], dict[Problem, None]()
    for text in texts:
        try:
            named.append(found(text, places))
        except ConfigurationError as error:
            wrong |= dict.fromkeys(error.problems)
    if wrong:
        raise ConfigurationError(wrong)
    return named
