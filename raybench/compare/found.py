"""What a comparison is made of: two sides, their scores, and what differs beside."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from raybench.compare.runs import Stored
from raybench.pipeline.store import REPORT
from raybench.statements import Statement
from raybench.types import Counts, Estimate

_MOMENT = len("20260101-000000")
"""Of a run's name, when it began."""
Word = Literal["better", "worse", "identical", "not distinguishable", "refused"]
Overall = Literal["better", "worse", "mixed", "identical", "not distinguishable", "not tested"]
Kind = Literal["model", "questions", "matches", "asking", "grading", "judges", "versions"]
"""What a setting is about, what matters most first."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How a metric's numbers are told: as the reports tell them."""

    digits: int = 3
    most: float | None = None
    """No difference is larger; None where there is no such end."""
    unit: str = ""


QUESTIONS = "questions"
GAINED = "gained", "lost"
"""What is observed; and what items are called on which the candidate is better, or worse."""
SHARE, RATING, SCORE = Scale(3, 1.0), Scale(0, None, "points"), Scale()
"""Accuracies and other shares, from 0 to 1; points of a rating; anything else."""


@dataclass(frozen=True, slots=True)
class Side:
    """One model of one run."""

    run: Stored
    model: str
    """'' where a run as a whole is held against another."""

    @property
    def key(self) -> tuple[Path, str]:
        """What it is known by."""
        return self.run.folder.resolve(), self.model

    @property
    def report(self) -> Path | None:
        """Return where its run's report is; None while there is none."""
        path = self.run.folder / REPORT
        return path if path.is_file() else None

    @property
    def spec(self) -> Mapping[str, Any]:
        """What the roster says of the model."""
        return self.run.models[self.model] if self.model else {}


@dataclass(frozen=True, slots=True)
class Pair:
    """A candidate, and what it is held against."""

    baseline: Side
    candidate: Side
    part: str = ""
    """Of which part of a suite both are, as people call it."""

    @property
    def one_run(self) -> bool:
        """Tell whether both are of the same run."""
        return self.baseline.key[0] == self.candidate.key[0]

    @property
    def ranked_by(self) -> str:
        """The metric by which both runs ranked their models; '' where they do not agree on one."""
        one, other = self.baseline.run.ranked_by, self.candidate.run.ranked_by
        return one if one == other else ""

    @property
    def short(self) -> str:
        """Return what the candidate is called where its run need not be told."""
        name = self.candidate.model or self.candidate.run.id
        return f"{name}, {self.part}" if self.part else name

    @property
    def titles(self) -> tuple[str, str]:
        """Return what tells the two apart: the models' names, or their runs', or both."""
        one, other = self._names
        return (f"{one}, {self.part}", f"{other}, {self.part}") if self.part else (one, other)

    def _home(self, side: Side) -> Path:
        """Return the folder of a side's run; of a suite's part, the suite's."""
        folder = side.key[0]
        return folder.parents[2] if self.part else folder

    @property
    def _names(self) -> tuple[str, str]:
        one, other = self.baseline, self.candidate
        if one.key == other.key:
            return one.model, f"{other.model} (itself)"
        if self.one_run or one.model != other.model:
            return one.model, other.model
        runs = [self._home(it).name[:_MOMENT] for it in (one, other)]
        if runs[0] == runs[1]:
            runs = [str(it.run.folder) for it in (one, other)]
        if not one.model and not other.model:
            return f"{one.run.experiment} {runs[0]}", f"{other.run.experiment} {runs[1]}"
        makes = _makes(one, other)
        return f"{one.model}{makes[0]} in {runs[0]}", f"{other.model}{makes[1]} in {runs[1]}"


def _makes(one: Side, other: Side) -> tuple[str, str]:
    """Return what tells models of one name apart: their rosters, or else their weights."""
    rosters = [(it.run.config.get("roster") or {}).get("name") for it in (one, other)]
    if rosters[0] != rosters[1]:
        return f" (roster {rosters[0]})", f" (roster {rosters[1]})"
    weights = [it.spec.get("weights") for it in (one, other)]
    if weights[0] != weights[1] and all(weights):
        return f" ({weights[0]})", f" ({weights[1]})"
    return "", ""


@dataclass(frozen=True, slots=True)
class Score:
    """What the candidate has over the baseline in one metric, before anything is corrected."""

    metric: str
    title: str
    baseline: Estimate
    candidate: Estimate
    """Both over what the two have in common."""
    difference: Estimate
    """The candidate's less the baseline's."""
    p: float | None = None
    """How often chance alone would set two equal models this far apart."""
    test: str = "none"
    independent: int = 0
    """How many observations of the difference there are that do not hang together."""
    gained: int | None = None
    """Questions on which the candidate does better."""
    lost: int | None = None
    """Those on which it does worse."""
    higher_is_better: bool = True
    of: str = QUESTIONS
    """What was observed."""
    scale: Scale = SHARE
    counts: tuple[Counts, Counts] | None = None
    """What became of the baseline's and the candidate's units."""
    notes: Sequence[str] = ()
    """What has to be read beside it."""
    untested: str = ""
    """Why there is no test, where the number of observations does not say it."""

    @property
    def refused(self) -> bool:
        """Tell whether there is no difference to speak of."""
        return self.difference.value is None

    @property
    def identical(self) -> bool:
        """Tell whether no single observation differs."""
        return not self.refused and self.gained == 0 and self.lost == 0

    @property
    def tested(self) -> bool:
        """Tell whether there is a test: where nothing differs, none could come out."""
        return self.p is not None and not self.identical

    @property
    def no_test(self) -> str:
        """Return why a difference has no test; '' where it has one, or needs none."""
        if self.refused or self.identical or self.p is not None:
            return ""
        if self.untested:
            return self.untested
        if self.independent < 2:
            return Statement("no_test.too_few", "too few {items}", items=self.of)
        return Statement("no_test.unknown", "too few {items}, or all alike", items=self.of)


@dataclass(frozen=True, slots=True)
class Judged:
    """A score with what the whole comparison makes of it."""

    score: Score
    verdict: Word
    words: str
    p_holm: float | None = None
    detectable: float | None = None
    """The smallest difference that four in five such comparisons would find, tested alone."""
    detectable_here: float | None = None
    """The same among all tests of this comparison."""
    needed: int | None = None
    """So many questions would show a difference as large as the one observed in four of five."""
    needed_for_two_points: int | None = None

    @property
    def shown(self) -> str:
        """Return the verdict as tables show it: a score without a test says so, and why."""
        return f"no test: {why}" if (why := self.score.no_test) else self.verdict


@dataclass(frozen=True, slots=True)
class Setting:
    """Something that the two sides were told differently."""

    kind: Kind
    name: str
    baseline: str
    candidate: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What one side made of an item, and where it can be read."""

    journal: Path
    line: int
    offset: int
    unit: str
    """Its address in the run's report; '' where that does not show it."""
    said: str
    """What came of it in words: 'right', '3 of 4 right', 'won', '4.17'."""
    facts: Mapping[str, Any]
    """What may be told in any case: how often it was right, which match it is."""
    record: Mapping[str, Any]
    """What the journal says of it; nothing where the texts are withheld."""


@dataclass(frozen=True, slots=True)
class Flip:
    """An item on which the two sides differ: a question, a match, a task."""

    key: str
    title: str
    """How people are told which one it is."""
    difference: float
    """The candidate's less the baseline's."""
    baseline: Reply
    candidate: Reply
    question: str = ""
    """As it was put; '' where it is not at hand."""
    language: str = ""
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Flips:
    """The items of a benchmark, or of a game, on which the sides differ: some, and how many."""

    benchmark: str
    title: str
    gained: int = 0
    lost: int = 0
    items: Sequence[Flip] = ()
    withheld: bool = False
    """Its authors ask not to publish the questions: ids only."""
    of: str = QUESTIONS
    """What the items are."""
    higher_is_better: bool = True
    words: tuple[str, str] = GAINED
    """What items are called of which the candidate's is better, and the baseline's."""

    def better(self, difference: float) -> bool:
        """Tell whether the candidate fares better with such a difference."""
        return (difference > 0) is self.higher_is_better

    @property
    def groups(self) -> Iterator[tuple[str, int, Sequence[Flip]]]:
        """Yield either direction in which some differ: what it is called, how many, the items."""
        better = [it for it in self.items if self.better(it.difference)]
        worse = [it for it in self.items if not self.better(it.difference)]
        gained, lost = self.words
        if self.gained:
            yield gained, self.gained, better
        if self.lost:
            yield lost, self.lost, worse


@dataclass(frozen=True, slots=True)
class Table:
    """Facts of both sides beside each other, of which nothing is tested."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Compared:
    """Everything found of a pair."""

    pair: Pair
    scores: Sequence[Score]
    settings: Sequence[Setting] = ()
    notes: Sequence[str] = ()
    flips: Sequence[Flips] = ()
    tables: Sequence[Table] = ()
    moved: str = ""
    """How the ranks of its models moved, where they are what it came to."""


@dataclass(frozen=True, slots=True)
class Concluded:
    """A pair with the verdicts."""

    compared: Compared
    scores: Sequence[Judged]
    verdict: Overall
    sentence: str
    tests: int = field(default=0)
    """How many tests were made in the whole comparison."""

    def count(self, *words: Word) -> int:
        """Return how many scores have one of these verdicts."""
        return sum(it.verdict in words for it in self.scores)

    @property
    def scored(self) -> int:
        """Return how many scores were compared."""
        return len(self.scores) - self.count("refused")

    @property
    def brief(self) -> str:
        """Return the verdict, with the number of scores it holds for where it is not all."""
        if self.no_test:
            return "no test"
        holds = self.count("better", "worse")
        if self.verdict not in ("better", "worse") or holds == self.scored:
            return self.verdict
        return f"{self.verdict} in {holds} of {self.scored}"

    @property
    def no_test(self) -> str:
        """Return why none of the scores has a test; '' where one has, or needs none."""
        reasons = [it.score.no_test for it in self.scores if it.verdict != "refused"]
        return ", ".join(dict.fromkeys(reasons)) if reasons and all(reasons) else ""

    @property
    def headline(self) -> str:
        """Return how many scores improved and worsened; of a single score, its verdict."""
        if self.scored < 2 or self.verdict == "identical":
            return f"No test: {self.no_test}" if self.no_test else self.verdict.capitalize()
        return scores_headline(self.scores)


def scores_headline(scores: Sequence[Judged]) -> str:
    """Return how many scores improved, how many worsened, and how many are uncertain."""
    counts = Counter(it.verdict for it in scores)
    same, reasons = counts["identical"], [why for it in scores if (why := it.score.no_test)]
    uncertain = counts["not distinguishable"] - len(reasons)
    return Statement(
        "comparison.headline",
        "{improved} of {scores} scores improved, {worsened} worsened, {rest}{identical}",
        improved=counts["better"],
        scores=len(scores) - counts["refused"],
        worsened=counts["worse"],
        open=uncertain,
        untested=len(reasons),
        rest=uncertain_words(uncertain, reasons),
        identical=f", {same} identical" if same else "",
        same=same,
    )


def uncertain_words(tested: int, reasons: Sequence[str]) -> str:
    """Return how many tests left open which is better, and how many there was no test for.

    `reasons` has why, once for each without a test.
    """
    told = []
    if tested or not reasons:
        told.append(f"{tested} {'is' if tested == 1 else 'are'} uncertain")
    if reasons:
        told.append(f"{len(reasons)} could not be tested ({', '.join(dict.fromkeys(reasons))})")
    return ", ".join(told)
