"""The questions that a run asks: every row read and checked, some chosen, written as shards.

Two passes over the files, each a row at a time, so that memory stays flat: the first checks the
rows and ranks them, the second writes what was chosen. Nothing that an earlier preparation left is
believed: it is done anew, in seconds.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench.benchmarks import Benchmark
from raybench.benchmarks.parts.contract import INDEX_LANGUAGES
from raybench.config import DataConf
from raybench.errors import ConfigurationError, RunFailed, did_you_mean
from raybench.pipeline import questions, shards, sources
from raybench.pipeline.questions import Question
from raybench.pipeline.sources import Place


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of the questions are asked."""

    limit: int | None = None
    """Questions of each language; the fewer are always among the more."""
    subjects: tuple[str, ...] = ()
    """Only these; none named means all."""
    languages: tuple[str, ...] | None = None
    """Of what there is in several; none named means those of the Multilingual Index."""
    seed: int = 0
    """Draws the questions that come below the limit."""

    def covers(self, question: Question) -> bool:
        """Tell whether the question is about one of the subjects."""
        return not self.subjects or _plain(question.subject or "") in map(_plain, self.subjects)

    def rank(self, question: Question) -> int:
        """Return where the question comes in the draw, whatever else there is to draw from.

        Translations that share a key come together. Without a limit there is no draw.
        """
        if self.limit is None:
            return 0
        drawn = hashlib.blake2b(f"{self.seed}\0{question.key}".encode(), digest_size=16)
        return int.from_bytes(drawn.digest())


@dataclass(frozen=True, slots=True)
class Dataset:
    """The questions of a benchmark that were chosen, on disk."""

    benchmark: str
    origin: str
    files: tuple[str, ...]
    """What was read there."""
    shards: tuple[Path, ...]
    """JSON lines: the benchmark's columns and `language`."""
    questions: int
    digest: str
    """Of what the chosen questions say, whatever their order and the format of their files."""
    by_language: Mapping[str, int]
    by_subject: Mapping[str, int]

    def rows(self) -> Iterator[Any]:
        """Yield the questions, one at a time."""
        for shard in self.shards:
            with shard.open("rb") as lines:
                yield from map(json.loads, lines)


def problems(asked: Collection[Benchmark], conf: DataConf, selection: Selection) -> Iterator[str]:
    """Yield what is wrong with a choice, as far as it shows before anything is read or fetched."""
    if selection.limit is not None and selection.limit < 1:
        yield f"the limit is {selection.limit} questions: it is 1 or more, or null for all"
    yield from sources.problems(asked, conf)
    if conf.dir is None:  # a folder of one's own may hold other languages
        for benchmark in asked:
            try:
                _spoken(benchmark, selection, benchmark.languages)
            except ConfigurationError as error:
                yield str(error)


def prepare(benchmark: Benchmark, conf: DataConf, selection: Selection, into: Path) -> Dataset:
    """Write the chosen questions below a folder, after every row has proved right.

    Raises ConfigurationError where rows are wrong or nothing is chosen, RunFailed where the hub
    does not answer or the questions cannot be written.
    """
    at_hub = conf.dir is None and conf.source == "hub"
    languages = _spoken(benchmark, selection, benchmark.languages) if at_hub else ()
    place = sources.find(benchmark, conf, languages)
    choice = _choose(benchmark, place, selection)
    tally = _Tally()
    chosen = (question for question in questions.of(benchmark, place) if question in choice)
    paths = shards.write(map(tally.counted, chosen), choice.questions, into / benchmark.name)
    if tally.by_language.total() != choice.questions:
        raise RunFailed(
            f"{benchmark.name}: the files in {place.origin} changed while they were read: run "
            "again when they are at rest"
        )
    return Dataset(
        benchmark=benchmark.name,
        origin=place.origin,
        files=tuple(file.name for file in place.files),
        shards=paths,
        questions=choice.questions,
        digest=f"{tally.digest:064x}",
        by_language={language: tally.by_language[language] for language in choice.highest},
        by_subject=dict(sorted(tally.by_subject.items())),
    )


class _Tally:
    """What passed by on its way to the shards."""

    def __init__(self) -> None:
        self.by_language: Counter[str] = Counter()
        self.by_subject: Counter[str] = Counter()
        self.digest = 0
        """The sum of the questions': in whatever order they come, and one number for all."""

    def counted(self, question: Question) -> Question:
        """Count a question and pass it on."""
        self.by_language[question.language] += 1
        if question.subject is not None:
            self.by_subject[question.subject] += 1
        self.digest = (self.digest + question.digest) % 2**256
        return question


def _spoken(benchmark: Benchmark, selection: Selection, there: Collection[str]) -> tuple[str, ...]:
    """Return the languages to ask in, of those there are questions in."""
    if len(benchmark.languages) == 1:
        return benchmark.languages
    if not selection.languages:
        if index := tuple(language for language in INDEX_LANGUAGES if language in there):
            return index
        raise ConfigurationError(
            f"{benchmark.name}: no language of the index is there, only "
            f"{', '.join(sorted(there))}: name those to ask in"
        )
    for language in selection.languages:
        if language not in there:
            raise ConfigurationError(
                f"{benchmark.name}: there are no questions in the language '{language}'."
                + did_you_mean(language, there)
            )
    return selection.languages


# -------------------------------------------------------------------------------------- choosing


@dataclass(frozen=True, slots=True)
class _Choice:
    """What the first pass found out, by which the second knows the chosen questions."""

    selection: Selection
    highest: Mapping[str, int]
    """The highest rank that is chosen, by language."""
    questions: int

    def __contains__(self, question: Question) -> bool:
        highest = self.highest.get(question.language, -1)
        return self.selection.covers(question) and self.selection.rank(question) <= highest


def _choose(benchmark: Benchmark, place: Place, selection: Selection) -> _Choice:
    """Read and check every row; raise ConfigurationError where none is chosen."""
    ranks: dict[str, list[int]] = {}
    subjects: set[str] = set()
    for question in questions.of(benchmark, place):
        of_language = ranks.setdefault(question.language, [])
        if question.subject is not None:
            subjects.add(question.subject)
        if selection.covers(question):
            of_language.append(selection.rank(question))
    if not ranks:
        raise ConfigurationError(
            f"{benchmark.name}: {', '.join(file.name for file in place.files)} in {place.origin} "
            "hold no question of it: choose other files with data.dir=FOLDER"
        )
    for subject in selection.subjects:
        if _plain(subject) not in map(_plain, subjects):
            raise ConfigurationError(
                f"{benchmark.name}: there are no questions about '{subject}'."
                + (did_you_mean(subject, subjects) if subjects else " It names no subjects.")
            )
    chosen = {
        language: sorted(ranks[language])[: selection.limit]
        for language in _spoken(benchmark, selection, ranks)
    }
    highest = {language: taken[-1] for language, taken in chosen.items() if taken}
    if not highest:
        raise ConfigurationError(
            f"{benchmark.name}: there are no questions about {', '.join(selection.subjects)} in "
            f"{', '.join(chosen)}: ask for other subjects or languages"
        )
    return _Choice(selection, highest, sum(map(len, chosen.values())))


def _plain(subject: str) -> str:
    """Return what is compared of a subject's name: abstract_algebra is 'Abstract algebra'."""
    return "".join(character for character in subject.lower() if character.isalnum())
