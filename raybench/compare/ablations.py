"""Runs of ablations: the models under each variant, and how far variants keep the order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raybench.compare import autobench, settings
from raybench.compare.flips import MOST
from raybench.compare.found import SCORE, Compared, Flips, Pair, Score, Table
from raybench.compare.pairing import whole
from raybench.compare.panels import JOURNAL, VARIANT
from raybench.compare.results import estimate, estimate_of, shown
from raybench.compare.runs import Stored
from raybench.config.autobench_ablations import FULL, VARIANTS, WORDS
from raybench.errors import ConfigurationError, Problem
from raybench.types import Estimate, reason_of

_ORDER = "τ with the full protocol"


def compare(pairs: Sequence[Pair], most: int = MOST) -> Iterator[Compared]:
    """Yield what is found of each pair of models. Raises ConfigurationError without any score.

    A variant under which there is nothing to compare is refused, and the others are compared.
    """
    for pair in pairs:
        scores, notes, flips = list[Score](), list[str](), list[Flips]()
        for name in _variants(pair):
            found = _scored(pair, name, most)
            scores.append(found.score)
            flips += found.flips
            notes += [f"{WORDS[name].capitalize()}: {it}" for it in found.notes[1:]]
            notes += found.notes[:1]
        if all(it.refused for it in scores):
            raise ConfigurationError(_nothing(pair, scores))
        yield Compared(pair, scores, settings.different(pair), list(dict.fromkeys(notes)), flips)


def orders(pairs: Sequence[Pair]) -> Iterator[Compared]:
    """Yield how far variants keep the order, of each pair of runs."""
    for pair in whole(pairs):
        table = _orders(pair.baseline.run, pair.candidate.run)
        yield Compared(pair, [], settings.different(pair), tables=[table])


def _scored(pair: Pair, variant: str, most: int) -> autobench.Scored:
    """Return the difference in the score under a variant, refused where there is none."""
    metric, title = _metric(variant), WORDS[variant].capitalize()
    try:
        return autobench.scored(pair, variant=variant, metric=metric, title=title, most=most)
    except ConfigurationError as error:
        none = Estimate(None, None, None, 0, f"not computed: {error}")
        one, other = (estimate_of(it, metric) or none for it in (pair.baseline, pair.candidate))
        return autobench.Scored(Score(metric, title, one, other, none, of="tasks", scale=SCORE))


def _nothing(pair: Pair, refused: Sequence[Score]) -> Problem:
    """Say why no variant has a difference."""
    if refused:
        why = [reason_of(it.difference.method) for it in refused]
        return Problem("compare.nothing", "\n".join(dict.fromkeys(why)))
    return Problem(
        "compare.nothing",
        f"{pair.baseline.run.folder} and {pair.candidate.run.folder} played no variant in common",
        fix="have both go on (the command of each once more), or play one again with the other's "
        "autobench_ablations.variants=[…]",
    )


def _metric(variant: str) -> str:
    return autobench.METRIC if variant == FULL else f"autobench_ablations/{variant}/score"


def _variants(pair: Pair) -> list[str]:
    """Return the variants that both runs played."""
    played = [_played(it.run) for it in (pair.baseline, pair.candidate)]
    return [name for name in VARIANTS if all(name in it for it in played)]


def _played(run: Stored) -> set[str]:
    """Return the variants that a run played: settings name some that a roster does not allow."""
    if told := _told(run):
        return {*told}
    return {str(record.get(VARIANT)) for _, _, record in run.lines(JOURNAL)}


def _orders(one: Stored, other: Stored) -> Table:
    """Return how far each variant's order agrees with the full protocol's, in both runs."""
    found = [_told(it) for it in (one, other)]
    names = [it for it in VARIANTS if it != FULL and any(it in told for told in found)]
    return Table(
        f"How far each variant's order agrees with the full protocol's ({_ORDER})",
        ("Variant", "Baseline", "Candidate"),
        [(WORDS[name], *(_order(told.get(name)) for told in found)) for name in names],
    )


def _told(run: Stored) -> Mapping[str, Any]:
    found = run.results.get("run", {}).get("ablations")
    return found if isinstance(found, Mapping) else {}


def _order(told: Any) -> str:
    order = told.get("order") if isinstance(told, Mapping) else None
    kendall = order.get("kendall") if isinstance(order, Mapping) else None
    return shown(estimate(kendall)) if isinstance(kendall, Mapping) else "—"
