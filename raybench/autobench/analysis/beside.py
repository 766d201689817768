"""Assessments of the same models under different rules, each played for itself, side by side.

An iteration draws the same topic, difficulty and generators under every rule, and often has the
same task and answers. So assessments are drawn together: a draw takes the same iterations of all of
them, and what they have in common leaves their differences. Where one has a list of tasks shorter
than the run, it has other things in common with itself than with the others: tasks that come again.
It is drawn by itself, each task with all its iterations.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raybench.autobench.analysis.ballots import ballots
from raybench.autobench.analysis.external import Compared, compared
from raybench.autobench.analysis.resample import (
    DRAWS,
    NONE,
    Draws,
    draw,
    iterations_of,
    resampled,
)
from raybench.autobench.analysis.tables import Table
from raybench.autobench.analysis.variants import Variant, variants
from raybench.autobench.settings import Settings
from raybench.autobench.sources import Sources
from raybench.autobench.standing import judging_weights

FULL_ORDER = "the full protocol"
"""The table that has the scores of the first assessment: how far the others agree with it."""


@dataclass(frozen=True)
class Assessment:
    """One rule's records."""

    name: str
    records: Sequence[Mapping[str, Any]]
    settings: Settings


@dataclass(frozen=True, eq=False)
class Beside:
    """Assessments side by side, the full protocol first."""

    played: tuple[Variant, ...]
    replayed: tuple[Variant, ...]
    """What the ratings of the first would have been under other rules, its tasks kept."""
    external: tuple[Compared, ...]
    """Of those played and replayed with each table."""
    order: tuple[Compared, ...]
    """Of those played with the first one's scores, taken as they are."""


def beside(
    assessments: Sequence[Assessment],
    tables: Sequence[Table] = (),
    counterparts: Collection[str] = (),
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Beside:
    """Compare assessments of equally many iterations with each other, and with each table.

    `counterparts` are the variants (`variants.py`) as which the first one is replayed, too.
    """
    full = assessments[0]
    drawn = _draws(assessments, draws, seed)
    played = tuple(
        Variant(
            each.name,
            resampled(ballots(each.records, each.settings), each.settings.weights, along),
        )
        for each, along in zip(assessments, drawn, strict=True)
    )
    found = played[0].found
    wanted = counterparts if tables else ()
    replayed = tuple(it for it in variants(found, full.settings, drawn[0]) if it.name in wanted)
    scores = dict(zip(found.ballots.contestants, found.scores.tolist(), strict=True))
    own = Table(FULL_ORDER, {model: it for model, it in scores.items() if not np.isnan(it)})
    return Beside(
        played,
        replayed,
        compared((*played, *replayed), tables, seed=seed),
        tuple(it for it in compared(played, [own], seed=seed) if it.variant != full.name),
    )


def authority(records: Sequence[Mapping[str, Any]], models: Sequence[str]) -> list[float]:
    """Return how far each iteration moved the contestants' shares of the scores: an L1 distance.

    These are the judging weights of equation 3, were all contestants to judge; whatever the rule,
    it has them, also where a single judge or uniform weights leave nothing else to move.
    """
    settings = Settings(tuple(models))
    before = judging_weights({}, settings)
    distances = []
    for record in records:
        after = judging_weights(record["cumulative"], settings)
        distances.append(sum(abs(after[model] - before[model]) for model in models))
        before = after
    return distances


def _draws(assessments: Sequence[Assessment], count: int, seed: int) -> list[Draws]:
    """Return the draws of each assessment: the same ones where the same iterations share a task."""
    found: dict[bytes, Draws] = {}
    along = []
    for each in assessments:
        ordered = sorted(each.records, key=lambda record: record["iteration"])
        sources = Sources.of(ordered, each.settings)
        alike = sources.numbers(len(ordered)).tobytes()
        if alike not in found:
            tasks = sources.count(len(ordered))
            drawn = draw(tasks, count, seed=(seed, len(found)) if found else seed)
            found[alike] = iterations_of(drawn, sources)
        along.append(_rows(ordered, found[alike]))
    return along


def _rows(ordered: Sequence[Mapping[str, Any]], drawn: Draws) -> Draws:
    """Return draws of iterations as draws of those that found a task."""
    held: NDArray[np.bool_] = np.array([it["task"] is not None for it in ordered], dtype=bool)
    rows = np.append(np.where(held, np.cumsum(held) - 1, NONE), NONE).astype(np.int32)
    return np.asarray(rows[drawn], dtype=np.int32)
