"""Runs of the peer protocol: paired over tasks that both sides answered, or else side by side."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from raybench.compare import means, settings
from raybench.compare.flips import MOST, Done, between, numbered, reply
from raybench.compare.found import Compared, Flip, Flips, Pair, Reply, Score, Side
from raybench.compare.results import counts_of, estimate_of
from raybench.errors import ConfigurationError, Problem
from raybench.statements import Statement
from raybench.tracking import addresses
from raybench.tracking.text import clipped
from raybench.types import Counts

JOURNAL = "iterations"
METRIC, _TITLE = "autobench/score", "AutoBench (1 to 5)"
VARIANT = "variant"
"""The field by which ablations tell their protocols apart."""
_FEWEST = 2


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
    if len(common) < _FEWEST:
        return _apart(pair, metric, title, counts, len(common))
    notes = ["A task's score is the judges' mean, weighed as they weighed then; that the weights "
             "are estimates too is not in the interval."]  # fmt: skip
    if not one_run:
        notes.append(
            Statement(
                "compare.same_tasks",
                "Compared over {tasks} tasks of the same words in both runs{judges}",
                tasks=len(common),
                judges=_judges(pair),
            )
        )
    sides = [one[task].value for task in common], [other[task].value for task in common]
    score = means.paired(metric, title, sides, of="tasks", counts=counts)
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
    pair: Pair, metric: str, title: str, counts: tuple[Counts, Counts], common: int
) -> Scored:
    """Return the difference of two runs' own scores, whose tasks and judges are different ones."""
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
        judges=_judges(pair),
    )
    score = means.apart(metric, f"{title}, NOT PAIRED", one, other, of="tasks", counts=counts)
    return Scored(score, [note])


def _judges(pair: Pair) -> str:
    """Say that the judges are not the same, where they are not."""
    one, other = ({*it.run.models} for it in (pair.baseline, pair.candidate))
    if one == other:
        return ", before judges of the same names"
    alone = [", ".join(sorted(it)) or "—" for it in (one - other, other - one)]
    return (
        f", before other judges (only the baseline's run has {alone[0]}; only the candidate's "
        f"{alone[1]})"
    )
