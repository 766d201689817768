"""The table of all pairs: each one's verdict and the difference that stands for it."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from raybench.compare.found import Concluded, Judged, Overall, scores_headline, uncertain_words
from raybench.compare.means import UNPAIRED
from raybench.compare.shown.words import difference, p_shown
from raybench.statements import Statement

ABOUT = (
    "Each row shows the score by which its experiment ranks. If there is none, or the verdict "
    "comes from other scores, the row shows the one of these with the smallest p. It was chosen "
    "for that, so its interval overstates how sure the difference is."
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


COUNTS: Mapping[str, Overall] = {
    "improved": "better",
    "worsened": "worse",
    "mixed": "mixed",
    "not_told": "not distinguishable",
    "identical": "identical",
    "not_tested": "not tested",
}
"""What the numbers of pairs with each verdict are called."""


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


def counts(found: Sequence[Concluded]) -> dict[str, int]:
    """Return how many pairs with scores have each verdict, by its name in COUNTS."""
    verdicts = Counter(it.verdict for it in found if it.scores)
    return {name: verdicts[verdict] for name, verdict in COUNTS.items()}


def headline(found: Sequence[Concluded]) -> str:
    """Return how many models improved and worsened; of a single pair, its own headline."""
    pairs = [it for it in found if it.scores]
    if len(pairs) < 2:
        return next((it.headline for it in pairs or found), "")
    numbers, scores = counts(pairs), [score for it in pairs for score in it.scores]
    reasons = [why for it in pairs if (why := it.no_test)]
    models = {it.compared.pair.candidate.key for it in pairs}
    several = any(it.scored > 1 for it in pairs)
    one_run = all(it.compared.pair.one_run for it in pairs)
    improved, worsened = "improved", "worsened"
    if one_run:
        is_, are = ("is" if numbers[it] == 1 else "are" for it in ("improved", "worsened"))
        improved, worsened = f"{is_} better than the baseline", f"{are} worse"
    if several:
        improved, worsened = f"{improved} in at least one score", f"{worsened} in at least one"
    rest = {"mixed": "mixed", "identical": "identical", "not_tested": "not tested"}
    return Statement(
        "comparison.headline_of_models",
        "{improved} of {all} {what} {better}, {worsened} {worse}, {uncertain}{rest}{scores}"
        "{unpaired}",
        **numbers,
        all=len(pairs),
        what="models" if len(models) == len(pairs) else "pairs",
        better=improved,
        worse=worsened,
        uncertain=uncertain_words(numbers["not_told"] - len(reasons), reasons),
        untested=len(reasons),
        rest="".join(f", {numbers[name]} {word}" for name, word in rest.items() if numbers[name]),
        scores=f"; {scores_headline(scores)}" if several else "",
        unpaired=_unpaired(scores),
    )


def _unpaired(scores: Sequence[Judged]) -> str:
    """Say that no score is paired; '' where any is."""
    there = [it.score for it in scores if not it.score.refused]
    if not there or not all(it.difference.method.startswith(UNPAIRED) for it in there):
        return ""
    items = " and ".join(dict.fromkeys(it.of for it in there))
    return f"; not paired: the two sides have too few {items} in common"


def rows(found: Sequence[Concluded]) -> list[Row]:
    """Return what comes before all tests, then the pairs."""
    reasons = {it.no_test for it in found} - {""}
    own = (_row(place, it, reasons) for place, it in enumerate(found) if it.scores)
    return [*_beside(found), *own]


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


def _row(place: int, found: Concluded, reasons: Collection[str]) -> Row:
    """Return a pair's row. The headline says why there is no test, unless `reasons` differ."""
    why = f": {found.no_test}" if found.no_test and len(reasons) > 1 else ""
    baseline, candidate = found.compared.pair.titles
    verdicts = [it.verdict for it in found.scores]
    of = standing(found.scores, found.verdict, found.compared.pair.ranked_by)
    return Row(
        place,
        candidate,
        baseline,
        found.verdict,
        f"{found.brief}{why}",
        of.score.title if of else "—",
        difference(of) if of else "—",
        p_shown(of.p_holm if of else None),
        str(verdicts.count("better")),
        str(verdicts.count("worse")),
        str(len(verdicts) - verdicts.count("refused")),
    )
