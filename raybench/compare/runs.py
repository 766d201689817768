"""A run as it lies on the disk: what it was told, what it came to, and its journals."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import raybench
from raybench.errors import ConfigurationError, Problem, RunFailed
from raybench.pipeline.run_identity import without_places
from raybench.pipeline.sources import SAMPLES
from raybench.pipeline.store import CONFIG, GRADING, HEADLINE, INPUTS, RESULTS
from raybench.reading import from_json, from_yaml

_LEVELS = {"run": 1, "models": 3, "counts": 2}
"""How deep what is read of the results is made of objects."""
_VERSION = re.compile(r"# (\S+) (.+)")


class Line(NamedTuple):
    """A record of a journal, and where it stands."""

    number: int
    """Counted from 1, as editors do."""
    offset: int
    """In bytes."""
    record: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Stored:
    """A run's folder."""

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> "Stored":
        """Return the run in a folder. Raises ConfigurationError where there is none."""
        run = cls(folder)
        if not os.path.isfile(folder / CONFIG):  # noqa: PTH113 - too long a path is none
            raise ConfigurationError(
                Problem(
                    "run.missing",
                    f"{folder} is no run's folder: it has no {CONFIG}",
                    given=str(folder),
                    fix="A run's folder is runs/EXPERIMENT/ID; the last line that a run prints "
                    "names it",
                )
            )
        if not run.models:
            raise ConfigurationError(
                Problem(
                    "file.format",
                    f"{folder / CONFIG} names no experiment or no models",
                    given=str(folder / CONFIG),
                )
            )
        return run

    @property
    def id(self) -> str:
        """The run's name."""
        return self.folder.resolve().name

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """What the run was told."""
        path = self.folder / CONFIG
        try:
            found = from_yaml(path.read_bytes())
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                Problem("file.unreadable", f"{path} cannot be read: {error}", given=str(path))
            ) from error
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def versions(self) -> Mapping[str, str]:
        """What it ran with: the comments above the configuration say it."""
        text = (self.folder / CONFIG).read_text(encoding="utf-8", errors="replace")
        found = (_VERSION.fullmatch(line) for line in text.splitlines() if line.startswith("#"))
        return {match[1]: match[2] for match in found if match}

    @cached_property
    def results(self) -> Mapping[str, Any]:
        """What it came to; nothing where it is not over."""
        found = _json(self.folder / RESULTS)
        run = found.get("run", {})
        data = run.get("data", {}) if isinstance(run, Mapping) else {}
        told = {name: (found.get(name, {}), depth) for name, depth in _LEVELS.items()}
        for name, (value, depth) in {**told, "run.data": (data, 2)}.items():
            if not _nested(value, depth):
                raise ConfigurationError(
                    Problem(
                        "file.changed",
                        f"{self.folder / RESULTS} is not what a run leaves: its {name} is not "
                        "made of objects. It was changed from outside",
                        given=str(self.folder / RESULTS),
                        fix="take the run's own",
                    )
                )
        return found

    @property
    def finished(self) -> bool:
        """Tell whether it is over."""
        return bool(self.results)

    @property
    def simulated(self) -> bool:
        """Tell whether stand-ins took part."""
        return bool(self.results.get("simulated")) or any(
            spec.get("engine") == "simulated" for spec in self.models.values()
        )

    @property
    def experiment(self) -> str:
        """Which experiment it is a run of."""
        return str(self.config.get("experiment", ""))

    @property
    def seed(self) -> Any:
        """What its random choices follow from."""
        return self.config.get("seed")

    @property
    def section(self) -> Mapping[str, Any]:
        """The experiment's own settings."""
        found = self.config.get(self.experiment)
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def models(self) -> Mapping[str, Mapping[str, Any]]:
        """The models that are ranked, each with what the roster says of it but `replicas`."""
        roster = self.config.get("roster")
        listed = roster.get("models") if isinstance(roster, Mapping) else None
        if not self.experiment or not isinstance(listed, list):
            return {}
        models = without_places(listed)
        return {str(it["name"]): it for it in models if isinstance(it, Mapping) and "name" in it}

    @cached_property
    def data(self) -> Mapping[str, Mapping[str, Any]]:
        """What was asked, by benchmark; of an unfinished run the digests alone."""
        told = self.results.get("run", {}).get("data")
        if isinstance(told, Mapping) and told:
            return told
        inputs = _json(self.folder / INPUTS)
        found = {name: {"digest": it} for name, it in inputs.items() if not name.endswith(GRADING)}
        for name, about in found.items():
            if (version := inputs.get(name + GRADING)) is not None:
                about["grading"] = version
        return found

    @property
    def inputs(self) -> Mapping[str, str]:
        """Digests of what else was asked or read, by name."""
        told = self.results.get("run", {}).get("inputs")
        return {k: str(it) for k, it in told.items()} if isinstance(told, Mapping) else {}

    @cached_property
    def ranked_by(self) -> str:
        """The metric by which it ranked its models; '' where it does not say."""
        try:
            with (self.folder / HEADLINE).open("rb") as lines:
                return str(from_json(next(lines))["metric"])
        except (OSError, StopIteration, ValueError, LookupError, TypeError):
            return ""

    def digest(self, benchmark: str) -> str | None:
        """Return the digest of a benchmark's questions; None where the run does not tell."""
        told = self.data.get(benchmark, {}).get("digest")
        return None if told is None else str(told)

    def samples(self, benchmark: str) -> bool:
        """Tell whether a benchmark's questions are the samples that are shipped with us."""
        told, conf = self.data.get(benchmark, {}).get("origin"), self.config.get("data")
        if isinstance(conf, Mapping):
            if conf.get("dir"):  # a folder may bear the samples' name
                return False
            told = told or conf.get("source")
        return bool(told == SAMPLES)

    def journal(self, name: str) -> Path:
        """Return where one of its journals is."""
        return self.folder / "journal" / f"{name}.jsonl"

    def lines(self, name: str) -> Iterator[Line]:
        """Yield a journal's records, one at a time.

        A last line that is not whole is of a unit under way, or of a run that was killed.
        """
        path, offset = self.journal(name), 0
        if not path.is_file():
            raise ConfigurationError(
                Problem(
                    "file.missing",
                    f"{self.folder} has no journal/{name}.jsonl: nothing of it can be compared",
                    fix="Copy the whole folder of the run, its journal too",
                )
            )
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                yield Line(number, offset, parsed(path, number, line))
                offset += len(line)

    def unlike(self, name: str, number: int, error: Exception) -> RunFailed:
        """Return the failure of a journal's record that is none as we know them."""
        path = self.journal(name)
        why = f"it has no field {error}" if isinstance(error, KeyError) else repr(error)
        if not isinstance(error, KeyError) or self._by == raybench.__version__:
            return broken(path, number, why)
        return RunFailed(
            Problem(
                "journal.version",
                f"{path}, line {number}: {why}; {self.made}",
                given=f"{path}, line {number}",
                fix="Compare runs of one version, or run it again with this one: python -m "
                f"raybench --from {self.folder / CONFIG}",
            )
        )

    def without(self, *keys: str) -> str:
        """Say why results have nothing there: they are not there themselves, or one of the keys."""
        if not self.finished:
            return "the run is unfinished"
        found: Any = self.results
        for key in keys:
            if not isinstance(found, Mapping) or key not in found:
                return f"its {RESULTS} has no '{key}': {self.made}"
            found = found[key]
        return "the run refused it"

    @property
    def made(self) -> str:
        """Say by which version it was made, and which is ours."""
        own = raybench.__version__
        if self._by == own:
            return f"it was made by this version of raybench, {own}, so that it was changed since"
        return f"it was made by raybench {self._by}, and this is {own}"

    @property
    def _by(self) -> str:
        return self.versions.get("raybench", "of an unknown version")

    def at_offset(self, name: str, number: int, offset: int) -> dict[str, Any]:
        """Return the record of a journal that begins there."""
        path = self.journal(name)
        with path.open("rb") as file:
            file.seek(offset)
            return parsed(path, number, file.readline())


def parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """Return a journal's line as a record. Raises RunFailed where it is none."""
    try:
        record = from_json(line)
    except ValueError as error:
        raise broken(path, number, str(error)) from error
    if not isinstance(record, dict):
        raise broken(path, number, "no object")
    return record


def broken(path: Path, number: int, why: str) -> RunFailed:
    """Return the failure of a line that no run leaves."""
    return RunFailed(
        Problem(
            "journal.invalid",
            f"{path}, line {number}, is not what a run leaves ({why}): the journal was changed "
            "from outside",
            given=f"{path}, line {number}",
            fix="Mend or delete the line",
        )
    )


def _nested(value: Any, depth: int) -> bool:
    """Tell whether a value is an object of objects, so deep."""
    if not isinstance(value, Mapping):
        return False
    return depth == 1 or all(_nested(it, depth - 1) for it in value.values())


def _json(path: Path) -> Mapping[str, Any]:
    try:
        found = from_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            Problem("file.unreadable", f"{path} cannot be read: {error}", given=str(path))
        ) from error
    return found if isinstance(found, Mapping) else {}
