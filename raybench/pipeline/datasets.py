"""The questions that a run asks: every row read and checked, some chosen, written as shards.

Two passes over the files, each a row at a time, so that memory stays flat: the first checks the
rows and ranks them, the second writes what was chosen. Nothing that an earlier preparation left is
believed: it is done anew, in seconds.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from raybench import benchmarks
from raybench.benchmarks import Benchmark
from raybench.config import DataConf
from raybench.errors import ConfigurationError, Problem, RaybenchError, RunFailed
from raybench.pipeline import questions, selection, shards, sources
from raybench.pipeline.questions import Question
from raybench.pipeline.revisions import Stamp
from raybench.pipeline.selection import Choice, Selection, Survey
from raybench.pipeline.sources import Place
from raybench.statements import Statement

__all__ = ["Dataset", "Prepared", "Selection", "prepare"]

T = TypeVar("T")
_NAMED = 5
"""Questions that are there several times, of which a note gives the ids."""


def withheld(benchmark: str, *, samples: bool) -> bool:
    """Tell whether a benchmark's questions are not to be published; samples are our own."""
    return benchmarks.load(benchmark).source.gated and not samples


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
    caveats: Mapping[str, int] = field(default_factory=dict)
    """What keeps grades from saying what they should, and of how many questions."""
    repeated: tuple[tuple[str, ...], ...] = ()
    """The ids of each question that is there under several, all of which are asked and count."""
    stamp: Stamp | None = None
    """What the revision that holds them says of how they came there."""

    @property
    def notes(self) -> list[str]:
        """Return what the person should know of these questions."""
        notes = [
            f"{self.benchmark}: {count:,} of {self.questions:,} questions have {caveat}"
            for caveat, count in self.caveats.items()
        ]
        if self.repeated:
            notes.append(self._repeats)
        if self.stamp and self.stamp.unreviewed:
            notes.append(self._unreviewed(self.stamp))
        return notes

    def _unreviewed(self, stamp: Stamp) -> Statement:
        return Statement(
            "data.unreviewed",
            "{benchmark}: questions of {origin} that were published without the approval of "
            "reviewers (review=skip{older}): {unreviewed:,}. Scores on them compare with no "
            "reviewed set",
            benchmark=self.benchmark,
            unreviewed=stamp.unreviewed,
            origin=self.origin,
            older=", by an older version" if stamp.older else "",
            by_older_version=stamp.older,
        )

    @property
    def _repeats(self) -> Statement:
        named = [" = ".join(ids) for ids in self.repeated[:_NAMED]]
        more = len(self.repeated) - len(named)
        return Statement(
            "data.repeated",
            "{benchmark}: questions are there under several ids, and count once for each of them: "
            "{ids}{more}",
            benchmark=self.benchmark,
            ids="; ".join(named),
            more=f"; and {more:,} more" if more else "",
            repeated=len(self.repeated),
            askings=sum(map(len, self.repeated)),
        )

    @property
    def withheld(self) -> bool:
        """Tell whether the questions are not to be published."""
        return withheld(self.benchmark, samples=self.origin == sources.SAMPLES)

    def rows(self) -> Iterator[Any]:
        """Yield the questions, one at a time."""
        for shard in self.shards:
            with shard.open("rb") as lines:
                yield from map(json.loads, lines)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What there is to ask."""

    datasets: tuple[Dataset, ...]
    left_out: Mapping[str, str]
    """The benchmarks that have nothing of what was chosen, and what they lack."""
    notes: tuple[str, ...]
    """What the person should know of the choice before the run, what was left out among it."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """What else a run depends on that asks these: digests, by what they are of."""
    closed: tuple[str, ...] = ()
    """The benchmarks that a plan does without, as their gated questions need a token."""

    def __iter__(self) -> Iterator[Dataset]:
        return iter(self.datasets)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the benchmarks that are asked, those too that a plan does without."""
        return (*(part.benchmark for part in self.datasets), *self.closed)

    def without(self, reasons: Mapping[str, str]) -> "Prepared":
        """Return the same with other benchmarks that are left out, and why."""
        told = tuple(f"{name} is left out: {why}" for name, why in reasons.items())
        return replace(self, left_out={**self.left_out, **reasons}, notes=(*told, *self.notes))


def prepare(
    asked: Sequence[Benchmark],
    conf: DataConf,
    chosen: Selection,
    into: Path,
    *,
    counted: bool = True,
    runs_dir: Path | None = None,
) -> Prepared:
    """Write the chosen questions of each benchmark below a folder, after every row proved right.

    Where they are not `counted` nobody expects as many as their publisher has. Screenings below
    `runs_dir` help to say what a dataset that is not published lacks. Raises
    ConfigurationError with all that is wrong, RunFailed where the hub does not answer or the
    questions cannot be written.
    """
    wrong = [*_problems(chosen), *sources.problems(conf, asked, runs_dir)]
    if wrong:
        raise ConfigurationError(wrong)
    if sources.at_hub(conf):  # some is known before anything is fetched
        selection.check_languages(asked, chosen)
        _of_each(asked, lambda it: sources.check_access(it, _wanted(it, chosen)))
    found = _of_each(asked, lambda it: _found(it, asked, conf, chosen))
    settled = selection.settle([survey for _, survey in found], chosen)
    datasets = tuple(
        _written(survey.benchmark, place, choice, into)
        for place, survey in found
        if (choice := settled.choices.get(survey.benchmark.name))
    )
    notes = (
        *settled.notes,
        *(_sizes(found, conf, chosen) if counted else ()),
        *_pictured(found),
        *(it for each in datasets for it in each.notes),
    )
    return Prepared(datasets, settled.left_out, notes)


def closed(asked: Sequence[Benchmark], conf: DataConf, chosen: Selection) -> list[str]:
    """Return the benchmarks with gated questions that the hub keeps for want of a token."""

    def is_closed(benchmark: Benchmark) -> bool:
        try:
            sources.check_access(benchmark, _wanted(benchmark, chosen))
        except ConfigurationError:
            return True
        return False

    return [it.name for it in asked if is_closed(it)] if sources.at_hub(conf) else []


def _sizes(
    found: Sequence[tuple[Place, Survey]], conf: DataConf, chosen: Selection
) -> Iterator[str]:
    """Yield a note for every benchmark that has more or fewer questions than it should."""
    if chosen.subjects or not sources.is_published(conf):
        return  # not all were counted, or nobody expects all
    for _, survey in found:
        there = sum(map(len, survey.ranks.values())) + survey.pictured
        size = survey.benchmark.size
        if size is not None and there != size:
            yield Statement(
                "data.size",
                "{benchmark}: {there:,} questions are there; {counted_by} {size:,}",
                benchmark=survey.benchmark.name,
                there=there,
                counted_by=survey.benchmark.counted_by,
                size=size,
            )


def _pictured(found: Sequence[tuple[Place, Survey]]) -> Iterator[str]:
    """Yield a note for every benchmark whose questions with images are left out."""
    for _, survey in found:
        if survey.pictured:
            asked = sum(map(len, survey.ranks.values()))
            yield (
                f"{survey.benchmark.name}: {survey.pictured:,} questions come with an image and "
                f"are left out; {asked:,} are text only"
            )


def _problems(chosen: Selection) -> Iterator[Problem]:
    if chosen.limit is not None and chosen.limit < 1:
        yield Problem(
            "setting.range",
            f"the limit is {chosen.limit} questions",
            setting="limit",
            given=chosen.limit,
            fix="it is 1 or more, or null for all",
        )


def _of_each(asked: Sequence[Benchmark], work: Callable[[Benchmark], T]) -> list[T]:
    """Return what comes of each benchmark; the mistakes of all are told together."""
    done = []
    mistakes, absent = dict[str, Problem](), dict[str, Problem]()
    for benchmark in asked:
        try:
            done.append(work(benchmark))
        except ConfigurationError as error:
            kind = absent if isinstance(error, sources.NoFiles) else mistakes
            kind[benchmark.name] = _of_benchmark(benchmark, error)
    if mistakes or absent:
        wrong = [*mistakes.values(), *_absent(absent, alone=len(absent) == len(asked))]
        heading = f"the questions of {len(mistakes) + len(absent)} benchmarks cannot be read:"
        ending = _without(asked, mistakes, absent)
        raise ConfigurationError(wrong, heading=heading, ending=ending)
    return done


def _of_benchmark(benchmark: Benchmark, error: RaybenchError) -> Problem:
    """Return what is wrong with a benchmark's questions as one problem, which names it."""
    first, *others = error.problems
    rest = "".join(f"\n{other}" for other in others)
    return first.prefixed(f"{benchmark.name}: ").extended(rest)


def _absent(absent: Mapping[str, Problem], *, alone: bool) -> list[Problem]:
    """Say of which benchmarks there are no files: in short, where there are files of others."""
    if alone or len(absent) == 1:
        return list(absent.values())
    if not absent:
        return []
    return [
        Problem(
            "data.missing",
            f"there are no files of {', '.join(absent)}",
            setting="data.dir",
            fix=f"name them so, as in {min(absent)}.jsonl",
        )
    ]


def _without(asked: Sequence[Benchmark], mistaken: Collection[str], absent: Collection[str]) -> str:
    """Say how the others can be asked, where there are any."""
    there = [benchmark.name for benchmark in asked if benchmark.name not in absent]
    sound = [name for name in there if name not in mistaken]
    if not sound and not (there and absent):
        return ""
    them = "it" if len(mistaken) + len(absent) == 1 else "them"
    leave = f"leave {them} out" if sound else "ask only what there are files of"
    return f"Or {leave}: benchmarks=[{','.join(sound or there)}]"


# --------------------------------------------------------------------------------------- reading


def _found(
    benchmark: Benchmark, asked: Sequence[Benchmark], conf: DataConf, chosen: Selection
) -> tuple[Place, Survey]:
    """Find a benchmark's files, read every row and check it."""
    place = _place(benchmark, asked, conf, chosen)
    survey = Survey.of(benchmark, questions.of(benchmark, place), chosen)
    if place.files and not survey.ranks:
        raise ConfigurationError(
            Problem(
                "data.missing",
                f"there is no question of it in {', '.join(file.name for file in place.files)} "
                f"({place.origin})",
                setting="data.dir",
                fix="choose other files with data.dir=FOLDER",
            )
        )
    if not chosen.languages and not chosen.spoken(benchmark, survey.ranks):
        raise ConfigurationError(
            Problem(
                "data.missing",
                f"no language of the index is there, only {', '.join(sorted(survey.ranks))}",
                setting="languages",
                fix="name those to ask in with languages=[…]",
            )
        )
    if sources.at_hub(conf):  # which has more than what was fetched
        survey = replace(survey, languages=benchmark.languages)
    return place, survey


def _place(
    benchmark: Benchmark, asked: Sequence[Benchmark], conf: DataConf, chosen: Selection
) -> Place:
    try:
        return sources.find(benchmark, conf, _wanted(benchmark, chosen))
    except RunFailed as failed:
        if len(asked) == 1:  # there is nothing else to ask
            raise RunFailed(_of_benchmark(benchmark, failed)) from failed
        here = [it.name for it in asked if sources.is_here(it, _wanted(it, chosen))]
        others = f", or ask only what was fetched before: benchmarks=[{','.join(here) or '…'}]"
        raise RunFailed(_of_benchmark(benchmark, failed).extended(others)) from failed


def _wanted(benchmark: Benchmark, chosen: Selection) -> tuple[str, ...]:
    return chosen.spoken(benchmark, benchmark.languages)


# --------------------------------------------------------------------------------------- writing


def _written(benchmark: Benchmark, place: Place, choice: Choice, into: Path) -> Dataset:
    tally = _Tally(benchmark)
    chosen = (question for question in questions.of(benchmark, place) if question in choice)
    paths = shards.write(map(tally.counted, chosen), choice.questions, into / benchmark.name)
    if tally.by_language.total() != choice.questions:
        raise RunFailed(
            Problem(
                "data.changed",
                f"{benchmark.name}: the files in {place.origin} changed while they were read",
                fix="run again when they are at rest",
            )
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
        caveats=tally.caveats,
        repeated=tally.repeated,
        stamp=place.stamp,
    )


class _Tally:
    """What passed by on its way to the shards."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self.caveats: Counter[str] = Counter()
        self.by_language: Counter[str] = Counter()
        self.by_subject: Counter[str] = Counter()
        self.digest = 0
        """The sum of the questions': in whatever order they come, and one number for all."""
        self._ids: dict[bytes, list[str]] = {}
        """By the hash of what a question says: as little as will do."""

    @property
    def repeated(self) -> tuple[tuple[str, ...], ...]:
        """Return the ids of each question that came several times in one language."""
        return tuple(tuple(ids) for ids in self._ids.values() if len(ids) > 1)

    def counted(self, question: Question) -> Question:
        """Count a question and pass it on."""
        self.by_language[question.language] += 1
        if question.subject is not None:
            self.by_subject[question.subject] += 1
        if caveat := self._benchmark.caveat(question.row):
            self.caveats[caveat] += 1
        self.digest = (self.digest + question.digest) % 2**256
        try:
            said = f"{question.language}\0{self._benchmark.content(question.row)}"
        except (
            Exception
        ):  # a row that its benchmark's rules did not catch is told of when it is put
            return question
        name = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        self._ids.setdefault(name, []).append(question.key)
        return question
