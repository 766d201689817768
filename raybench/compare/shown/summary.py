"""The table of all pairs: each one's verdict and the difference that stands for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from raybench.compare.found import Concluded, Judged, Overall
from raybench.compare.shown.words import difference, p_shown

ABOUT = (
    "The difference of each pair is that of what its experiment ranks by; where there is no such "
    "score, or the verdict comes from others, of the one of these with the least p, chosen because "
    "it is: read its interval with that in mind."
)
_HEADLINES = (
    "index/intelligence",
    "hle/accuracy",
    "autobench/score",
    "games/rating",
    "games/points_won",
)
_ORDER: Sequence[Overall] = (
    "better",
    "worse",
    "mixed",
    "not distinguishable",
    "not tested",
    "identical",
)


@dataclass(frozen=True, slots=True)
class Row:
    """What the table says of a pair."""

    place: int
    """The pair's, among all of them in their order."""
    candidate: str
    baseline: str
    verdict: str
    brief: str
    """The verdict, and in how many scores it holds."""
    score: str
    """Whose difference it is."""
    difference: str
    p_holm: str
    better: str
    worse: str
    of: str


def rows(found: Sequence[Concluded]) -> list[Row]:
    """Return what comes before all tests, then the pairs."""
    return [*_beside(found), *(_row(place, it) for place, it in enumerate(found) if it.scores)]


def ordered(found: Sequence[Concluded]) -> list[Concluded]:
    """Return the pairs as all is shown: those without scores, then those that differ, the rest."""
    return sorted(found, key=lambda it: _ORDER.index(it.verdict) if it.scores else -1)


def standing(scores: Sequence[Judged], verdict: Overall, ranked_by: str = "") -> Judged | None:
    """Return the score that stands for a pair: the headline, or the one with the least p.

    The headline is what its runs ranked by, or else what their experiment does.

    It is one of those that the pair's verdict comes from. None where all are refused.
    """
    known = [it for it in scores if not it.score.refused]
    there = [it for it in known if it.verdict == verdict] or known
    headline = (it for name in (ranked_by, *_HEADLINES) for it in there if it.score.metric == name)
    return next(headline, None) or min(
        there, key=lambda it: 1.0 if it.score.p is None else it.score.p, default=None
    )


def _beside(found: Sequence[Concluded]) -> Iterator[Row]:
    for place, it in enumerate(found):
        if it.compared.moved:
            baseline, candidate = it.compared.pair.titles
            told = "—", "—", "—", "—"
            moved = "not tested", "not tested", "Consensus", it.compared.moved
            yield Row(place, candidate, baseline, *moved, *told)


def _row(place: int, found: Concluded) -> Row:
    baseline, candidate = found.compared.pair.titles
    verdicts = [it.verdict for it in found.scores]
    of = standing(found.scores, found.verdict, found.compared.pair.ranked_by)
    return Row(
        place,
        candidate,
        baseline,
        found.verdict,
        found.brief,
        of.score.title if of else "—",
        difference(of) if of else "—",
        p_shown(of.p_holm if of else None),
        str(verdicts.count("better")),
        str(verdicts.count("worse")),
        str(len(verdicts) - verdicts.count("refused")),
    )
