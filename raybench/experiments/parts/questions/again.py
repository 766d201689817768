"""A run of questions, looked at again: what was asked of whom, and every unit with its question.

The journal has no questions. They are read again from where the run had them, and have to be the
same; the prompts are made of them as they were for the run.
"""

import json
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from raybench import benchmarks
from raybench.benchmarks.parts.choices import MultipleChoice
from raybench.config import Config
from raybench.errors import ConfigurationError, Problem, RunFailed
from raybench.experiments.parts.questions.lookup import withheld
from raybench.experiments.parts.questions.reading import Place, Record, place_of
from raybench.experiments.parts.questions.setup import prepared, repeats_of
from raybench.pipeline import chains, put, shards
from raybench.pipeline.datasets import Dataset, Prepared
from raybench.pipeline.stages import Asking
from raybench.pipeline.store import CONFIG, RESULTS, inputs_of
from raybench.pipeline.terms import Terms, asking_of, models_of
from raybench.pipeline.typed import config_in
from raybench.tracking.inspect.samples import Put
from raybench.types import ModelSpec

EXPERIMENTS = ("hle", "index")
"""Those whose units are graded replies to fixed questions."""
_NONE = f"which asks no fixed benchmarks: give one of {' or '.join(EXPERIMENTS)}"
_WHY_NOT = {
    "hle_screen": "which has questions that are held out, and those that nobody accepted: what it "
    "published is asked by +experiment=hle data=rolling, give a run of that",
    "suite": "whose parts have the questions: give one of those in its folder, at parts/index/ID "
    "or parts/hle/ID",
}
"""Why runs are not looked at that asked questions all the same."""
_JOURNAL = Path("journal") / "units.jsonl"
_ROWS = 16
"""Questions kept at hand: the repeats of one follow each other."""


@dataclass
class Again:
    """A run's folder, and the questions that it asked."""

    folder: Path
    config: Config
    data: Prepared
    results: Mapping[str, Any] | None
    """None where it is not finished."""
    withheld: frozenset[str]
    """Benchmarks whose questions are not to be published."""
    _asking: Asking
    _rows: dict[Place, tuple[Path, int]] = field(default_factory=dict)
    """Where each question lies."""
    _said: dict[int, str | None] = field(default_factory=dict)
    """What was replied where other questions follow."""
    _units: dict[tuple[str, str], "array[int]"] = field(default_factory=dict)
    """Where the units of each benchmark and model lie in the journal."""

    @property
    def models(self) -> list[ModelSpec]:
        """The roster's models, with the sampling that they were asked with."""
        return models_of(self.config)

    @property
    def judges(self) -> tuple[str, ...]:
        """The models that judged, the first of whom decided."""
        return tuple(Terms.of(self.config).conf.judges)

    def repeats(self, part: Dataset) -> int:
        """Return how often each of a benchmark's questions was asked of everybody."""
        return repeats_of(self.config, part.benchmark)

    def units(self, benchmark: str, model: str) -> Iterator[Record]:
        """Yield the units of a benchmark and a model, one at a time, in the journal's order."""
        with (self.folder / _JOURNAL).open("rb") as journal:
            for place in self._units.get((benchmark, model), ()):
                journal.seek(place)
                yield json.loads(journal.readline())

    def question(self, record: Record) -> Put:
        """Return a unit's question as it was put."""
        benchmark, draw = benchmarks.load(record["benchmark"]), self._asking.draw(record)
        row = self._row(*self._rows[place_of(record)])
        truth = benchmark.truth(row, draw=draw) if benchmark.has_gold(row) else ""
        options = benchmark.options(row, draw) if isinstance(benchmark, MultipleChoice) else ()
        messages = put.messages(record, row, self._asking, self._said)
        return Put(tuple(messages), truth, tuple(options))

    @staticmethod
    @lru_cache(maxsize=_ROWS)
    def _row(shard: Path, place: int) -> Any:
        with shard.open("rb") as lines:
            lines.seek(place)
            return json.loads(lines.readline())

    def _index(self) -> None:
        """Find where everything lies; of it, only what others follow is kept."""
        for part in self.data:
            benchmark = benchmarks.load(part.benchmark)
            for shard in part.shards:
                for place, line in _lines(shard):
                    row = json.loads(line)
                    key = (part.benchmark, benchmark.language(row), benchmark.key(row))
                    self._rows[key] = (shard, place)
        asked = {model.name for model in self.models}
        path = self.folder / _JOURNAL
        for number, (place, line) in enumerate(_lines(path), start=1):
            if not line.endswith(b"\n"):
                break  # a killed process left it: it never counted
            try:
                record = json.loads(line)
                name, model = record["benchmark"], record["model"]
                if place_of(record) not in self._rows or model not in asked:
                    raise ValueError("nobody was asked that")
                self._said |= chains.heard([record])
            except (ValueError, LookupError, TypeError) as error:
                raise RunFailed(
                    Problem(
                        "journal.invalid",
                        f"{path}, line {number}, is not what the run leaves ({error}): the "
                        "journal was changed from outside",
                        given=f"{path}, line {number}",
                        fix="Mend or delete the line",
                    )
                ) from error
            self._units.setdefault((name, model), array("Q")).append(place)


@contextmanager
def again(folder: Path) -> Iterator[Again]:
    """Open a run's folder. Raises ConfigurationError where it is none of questions.

    The questions are gone, with what was made of them, when this ends.
    """
    config = config_of(folder)
    with shards.scratch() as into:
        # It is a plan that tells nobody of its notes: the run did.
        data = prepared(replace(config, dry_run=True), into)
        _same(folder, data)
        found = Again(
            folder, config, data, results_of(folder), frozenset(withheld(data)), asking_of(config)
        )
        found._index()
        yield found


def config_of(folder: Path) -> Config:
    """Return the configuration of a run of questions."""
    path = folder / CONFIG
    if not path.is_file():
        raise ConfigurationError(
            Problem(
                "run.missing",
                f"'{folder}' is no run's folder, for it has no {CONFIG}",
                given=str(folder),
                fix="give one such as runs/index/20260101-120000-000000-0123456789",
            )
        )
    config = config_in(path)
    if config.experiment not in EXPERIMENTS:
        why = _WHY_NOT.get(str(config.experiment), _NONE)
        raise ConfigurationError(
            Problem(
                "run.kind",
                f"{folder} is a run of {config.experiment}, {why}",
                given=config.experiment,
            )
        )
    if not (folder / _JOURNAL).is_file():
        raise ConfigurationError(
            Problem(
                "file.missing",
                f"{folder} has no {_JOURNAL}: nothing was asked in it yet",
                given=str(folder),
            )
        )
    return config


def results_of(folder: Path) -> dict[str, Any] | None:
    """Return a run's results; None where it is not finished."""
    path = folder / RESULTS
    try:
        return dict(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise RunFailed(
            Problem(
                "file.unreadable",
                f"{path} cannot be read: {error}",
                given=str(path),
                fix="Copy the run's folder anew",
            )
        ) from error


def _same(folder: Path, data: Prepared) -> None:
    """Refuse questions that are not those which the run asked."""
    began = inputs_of(folder)
    there = {part.benchmark: part.digest for part in data}
    if other := sorted(name for name, digest in there.items() if began.get(name) != digest):
        raise ConfigurationError(
            Problem(
                "data.changed",
                f"the questions of {', '.join(other)} are not those that {folder} asked: what "
                "they were read from has changed "
                f"({', '.join(sorted({part.origin for part in data}))})",
                fix="Put back what was there then",
            )
        )


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file, each with where it begins."""
    place = 0
    with path.open("rb") as lines:
        for line in lines:
            yield place, line
            place += len(line)
