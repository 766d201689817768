"""Two sides that were asked questions: every benchmark, the indices, and what flipped."""

from collections.abc import Sequence

from raybench.compare import pairing, settings
from raybench.compare.found import Compared, Pair, Score
from raybench.compare.questions import flips, scores, texts
from raybench.compare.questions.units import HLE, Units
from raybench.errors import ConfigurationError, Problem
from raybench.statements import Statement
from raybench.types import reason_of


def compare(
    pairs: Sequence[Pair], *, only: Sequence[str], most: int
) -> tuple[list[Compared], list[str]]:
    """Return what is found of each pair, and why nothing is of some.

    Every journal is read once for all of them. Raises ConfigurationError where no pair has a
    question in common.
    """
    units = Units.read(pairs, only)
    found, why = pairing.each(pairs, lambda pair: [_compared(units, pair, only, most)])
    return texts.filled(found), why


def _compared(units: Units, pair: Pair, only: Sequence[str], most: int) -> Compared:
    there, lacking = _benchmarks(units, pair)
    notes = [
        Statement(
            "compare.one_side_alone",
            "{benchmark}: only the {side} has it: not compared",
            benchmark=name,
            side=side,
        )
        for name, side in lacking.items()
    ]
    found = {name: scores.common(units, pair, name) for name in there}
    each = {name: scores.accuracy(units, pair, it) for name, it in found.items()}
    if all(it.refused for it in each.values()):
        why = [
            "; ".join([f"{name}: {reason_of(it.difference.method)}", *it.notes])
            for name, it in each.items()
        ]
        told = "; ".join([*why, *notes]) or "neither has a unit"
        raise ConfigurationError(
            Problem(
                "compare.nothing",
                f"{pair.candidate.model} of {pair.candidate.run.folder} and {pair.baseline.model} "
                f"of {pair.baseline.run.folder} have no question in common: {told}",
            )
        )
    whole, why_not = scores.composites(units, pair, each)
    beside = list[Score]()
    if HLE in each and not each[HLE].refused:
        beside += scores.confidence(units, pair, found[HLE])
    return Compared(
        pair,
        [*whole, *each.values(), *beside],
        settings.different(pair),
        [*notes, *(() if only else why_not)],
        [flips.flips(units, pair, it, most) for name, it in found.items() if not it.refused],
    )


def _benchmarks(units: Units, pair: Pair) -> tuple[list[str], dict[str, str]]:
    """Return the benchmarks that both sides have, and those that one has, by whose they are."""
    sides = {"baseline": pair.baseline, "candidate": pair.candidate}
    both, lacking = [], {}
    for name in units.tally.benchmarks():
        have = [
            side
            for side, it in sides.items()
            if units.tally.sheet(units.label(it), name).counts
            or units.tally.sheet(units.label(it), name).marks
        ]
        if len(have) == 2:
            both.append(name)
        elif have:
            lacking[name] = have[0]
    return both, lacking
