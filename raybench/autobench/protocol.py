"""The AutoBench protocol: who is asked what, which tasks are accepted, how scores become weights.

Source: "AutoBench: Automating LLM Evaluation through Reciprocal Peer Assessment", section 3 and
algorithm 1. Nothing here talks to a model: a `Course` says what is to be asked and is given the
replies, in any order; whoever drives it decides how the models are reached.

    settings.py     what the protocol is told
    steps.py        what is asked, of whom: nothing of it depends on the judges' weights
    standing.py     equations 1 to 3: scores and weights
    acceptance.py   whether a task passes, and when that is certain before an iteration's turn
    faults/, earlier.py    tasks that are no good by themselves, or that were there before
    play.py         one iteration under way
    records.py      its record in the journal
    course.py       many iterations at once, counted strictly in order

Scores and weights are a function of the journalled ratings alone: `counted` recomputes them one
iteration after the other, `replay` to the end.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from raybench.autobench.course import Course
from raybench.autobench.records import Record
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing, advance, contestant_scores

__all__ = ["Counted", "Course", "Record", "Settings", "Standing", "counted", "replay"]


@dataclass(frozen=True, slots=True)
class Counted:
    """One iteration of the journal, with the scores that it gave."""

    record: Mapping[str, Any]
    scores: Mapping[str, float | None]
    """By contestant, weighed as the judges weighed before it."""
    before: Standing
    after: Standing


def counted(records: Iterable[Mapping[str, Any]], settings: Settings) -> Iterator[Counted]:
    """Count the ratings of the journal anew, strictly in order.

    Scores and weights written in the records are not read. Raises ValueError where an iteration is
    missing or there twice.
    """
    standing = Standing.start(settings)
    for record in sorted(records, key=lambda record: record["iteration"]):
        if record["iteration"] != standing.iteration + 1:
            raise ValueError(
                f"the journal has iteration {record['iteration']} where {standing.iteration + 1} "
                "should stand: one is missing or there twice"
            )
        scores = contestant_scores(record["answers"], record["judgments"], standing.weights)
        after = advance(standing, scores, settings)
        yield Counted(record, scores, standing, after)
        standing = after


def replay(records: Iterable[Mapping[str, Any]], settings: Settings) -> Standing:
    """Return where the assessment stands after all iterations of the journal, counted anew."""
    standing = Standing.start(settings)
    for iteration in counted(records, settings):
        standing = iteration.after
    return standing
