"""Runs of the peer protocol: paired over tasks that both sides answered, or else side by side."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from raybench.compare import means, panels, settings
from raybench.compare.flips import MOST, Done, between, numbered, reply
from raybench.compare.found import Compared, Flip, Flips, Pair, Reply, Score, Side
from raybench.compare.panels import JOURNAL, VARIANT
from raybench.compare.results import counts_of, estimate_of
from raybench.errors import ConfigurationError, Problem
from raybench.statements import Statement
from raybench.tracking import addresses
from raybench.tracking.text import clipped
from raybench.types import Counts, Estimate

METRIC, _TITLE = "autobench/score", "AutoBench (1 to 5)"
_FEWEST = 2
Alone = tuple[tuple[str, ...], tuple[str, ...]]
"""Judges of the baseline's run alone, and of the candidate's run alone."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The difference in the score, what has to be said of it, and tasks with other scores."""

    score: Score
    notes: Sequence[str] = ()
    flips: Sequence[Flips] = ()


def compare(pairs: Sequence[Pair], most: int = MOST) -> Iterator[Compared]:
    """Yield what is found of each pair. Raises ConfigurationError where there is nothing to."""
    for pair in pairs:
        found = scored(pair, most=most)
        yield Compared(pair, [found.score], settings.different(pair), found.notes, found.flips)


def scored(
    pair: Pair, *, variant: str = "", metric: str = METRIC, title: str = _TITLE, most: int = MOST
) -> Scored:
    """Return the difference in the score, under one variant of the protocol."""
    one_run = pair.one_run
    one, other = (
        _by_task(it, variant, iterations=one_run) for it in (pair.baseline, pair.candidate)
    )
    common = [task for task in one if task in other]
    counts = counts_of(pair.baseline), counts_of(pair.candidate)
    alone = _only_one_side(pair, variant)
    if len(common) < _FEWEST:
        return _apart(pair, metric, title, counts, len(common), alone)
    notes = ["A task's score is the judges' mean, weighed as they weighed then; that the weights "
             "are estimates too is not in the interval."]  # fmt: skip
    if not one_run:
        notes.append(
            Statement(
                "compare.same_tasks",
                "Compared over {tasks} tasks of the same words in both runs{judges}",
                tasks=len(common),
                judges=_judges(alone),
                alone=alone,
            )
        )
    sides = [one[task].value for task in common], [other[task].value for task in common]
    score = means.paired(metric, title, sides, of="tasks", counts=counts)
    if any(alone):
        return Scored(_untested(score), notes)
    name = metric.removesuffix("/score")
    flips = _flips(pair, Flips(name, title, of="tasks"), variant, (one, other), most)
    return Scored(score, notes, [flips])


def _flips(
    pair: Pair,
    flips: Flips,
    variant: str,
    sides: tuple[Mapping[str, Done], Mapping[str, Done]],
    most: int,
) -> Flips:
    """Return the tasks on which the score moved, with what both sides answered."""

    def flip(_: str, one: Done, other: Done) -> Flip:
        before, after = (
            it.run.at_offset(JOURNAL, done.line, done.offset)
            for it, done in ((pair.baseline, one), (pair.candidate, other))
        )
        numbers = before["iteration"], after["iteration"]
        called = numbered("iteration", "iterations", numbers)
        about = ", ".join(filter(None, (after.get("topic"), after.get("difficulty"))))
        return Flip(
            str(numbers[1]),
            f"{called} ({about})" if about else called,
            other.value - one.value,
            _reply(pair.baseline, one, before, variant),
            _reply(pair.candidate, other, after, variant),
            question=clipped(after["task"]),
        )

    return between(flips, sides, flip, most)


def _reply(side: Side, done: Done, record: Mapping[str, Any], variant: str) -> Reply:
    number, model = record["iteration"], side.model
    ratings = {judge: of[model] for judge, of in record.get("judgments", {}).items() if model in of}
    told = ", ".join(f"{judge}: {'none' if it is None else it}" for judge, it in ratings.items())
    texts = {"response": record.get("answers", {}).get(model) or "", "ratings": told}
    return reply(
        side, JOURNAL, done, addresses.iteration(number, variant), f"{done.value:.2f}",
        {"iteration": number, "score": done.value}, texts,
    )  # fmt: skip


def _by_task(side: Side, variant: str, *, iterations: bool) -> dict[str, Done]:
    """Return a side's mean score of each task, known by its words, or by its iteration.

    Where it was set several times its first iteration tells.
    """
    found: dict[str, list[Done]] = {}
    for number, offset, record in side.run.lines(JOURNAL):
        if record.get(VARIANT, "") != variant:
            continue
        try:
            task, score = record["task"], record["scores"].get(side.model)
            name = str(record["iteration"]) if iterations else task
        except (LookupError, AttributeError) as error:
            raise side.run.unlike(JOURNAL, number, error) from error
        if task is not None and isinstance(score, int | float):
            found.setdefault(name, []).append(Done(float(score), number, offset))
    return {
        task: replace(of[0], value=math.fsum(it.value for it in of) / len(of))
        for task, of in found.items()
    }


def _apart(
    pair: Pair, metric: str, title: str, counts: tuple[Counts, Counts], common: int, alone: Alone
) -> Scored:
    """Return the difference of two runs' own scores, whose tasks are different ones."""
    one, other = (estimate_of(it, metric) for it in (pair.baseline, pair.candidate))
    for it, side in ((one, pair.baseline), (other, pair.candidate)):
        if it is None or it.value is None or not it.stderr:
            why = side.run.without("models", side.model, metric)
            if it is not None and it.value is not None:
                why = "nothing that it is made of varies"
            raise ConfigurationError(
                Problem(
                    "compare.nothing",
                    f"{side.model} of {side.run.folder} has no {metric} with an interval ({why}), "
                    f"and the runs have {common} task{'s' * (common != 1)} in common",
                    fix="finish it, or have both answer the same tasks",
                )
            )
    note = Statement(
        "compare.not_paired",
        "NOT PAIRED: the runs have {tasks} task{s} in common{judges}, so no flipped tasks are "
        "listed. The difference of the two scores may come from tasks and judges alone. It is "
        "about the models only if both are in one run, or answer the same tasks before the same "
        "judges.",
        tasks=common or "no",
        s="s" * (common != 1),
        judges=_judges(alone),
        alone=alone,
    )
    score = means.apart(metric, f"{title}, NOT PAIRED", one, other, of="tasks", counts=counts)
    return Scored(_untested(score) if any(alone) else score, [note])


def _untested(score: Score) -> Score:
    """Return a score without test and interval: other judges' scores are another quantity."""
    found = score.difference
    method = f"{found.method}; no interval: other judges"
    return replace(
        score,
        difference=Estimate(found.value, None, None, found.n, method),
        p=None,
        test="none",
        gained=None,
        lost=None,
        untested=Statement("no_test.judges", "other judges"),
    )


def _only_one_side(pair: Pair, variant: str) -> Alone:
    """Return the judges that only the baseline's run has, and those that only the candidate's has.

    Models that are compared and judge themselves are the same judge: one replaces the other.
    """
    panels_ = [{*panels.panel(it.run, variant)} for it in (pair.baseline, pair.candidate)]
    one, other = panels_[0] - panels_[1], panels_[1] - panels_[0]
    if (one, other) == ({pair.baseline.model}, {pair.candidate.model}):
        return (), ()
    return tuple(sorted(one)), tuple(sorted(other))


def _judges(alone: Alone) -> str:
    """Say whether the judges are the same, and what it means that they are not."""
    if not any(alone):
        return ", before judges of the same names"
    baseline, candidate = (", ".join(it) or "—" for it in alone)
    return (
        f", before other judges (only the baseline's run has {baseline}; only the candidate's "
        f"{candidate}), whose scores cannot be tested against each other"
    )
