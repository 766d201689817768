"""The same ratings under other rules: what a single judge, or equal weights, would make of them.

Each variant is the same journal replayed along the same draws, so that variants are compared in
pairs. Tasks stay those that the full protocol accepted, with its own weights: a run under another
rule would have turned down others.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from raybench.autobench.analysis.ballots import Ballots
from raybench.autobench.analysis.resample import Draws, Resampled, resampled
from raybench.autobench.settings import Settings, Weights

FULL = "as run"
UNIFORM = "uniform weights"
CONSENSUS = "consensus weights"
NO_SELF = "no self-judgement"
SINGLE = "single judge: "


@dataclass(frozen=True, eq=False)
class Variant:
    """One rule, and the assessment under it."""

    name: str
    found: Resampled
    note: str = ""
    """What is special about it."""


def variants(full: Resampled, settings: Settings, draws: Draws) -> tuple[Variant, ...]:
    """Return the assessment as it was run, then each variant of it that differs.

    The first single judge is the one that scored best, as the paper chose gpt-oss-20b.
    """
    ballots = full.ballots
    return (
        Variant(FULL, full),
        *_rules(ballots, settings, draws),
        *_singles(ballots, full, draws),
    )


def _rules(ballots: Ballots, settings: Settings, draws: Draws) -> Iterator[Variant]:
    if len(ballots.judges) < 2:
        return
    other: Weights = "uniform" if settings.weights == "consensus" else "consensus"
    name = UNIFORM if other == "uniform" else CONSENSUS
    yield Variant(name, resampled(ballots, other, draws))
    if settings.self_judgement and (ballots.places >= 0).any():
        yield Variant(NO_SELF, resampled(ballots.without_self(), settings.weights, draws))


def _singles(ballots: Ballots, full: Resampled, draws: Draws) -> Iterator[Variant]:
    if len(ballots.judges) < 2:
        return
    best = best_judge(full)
    for judge in sorted(ballots.judges, key=lambda judge: judge != best):
        note = "the best-scored model, as in the paper" if judge == best else ""
        yield Variant(SINGLE + judge, resampled(ballots.by([judge]), "uniform", draws), note)


def best_judge(full: Resampled) -> str | None:
    """Return the judge that scored best, None where no judge is a contestant with a score."""
    scores = dict(zip(full.ballots.contestants, full.scores, strict=True))
    known = [judge for judge in full.ballots.judges if not np.isnan(scores.get(judge, np.nan))]
    return max(known, key=lambda judge: scores[judge], default=None)
