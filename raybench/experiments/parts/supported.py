"""What a run supports, in words: which models differ, and which ranks may be chance."""

from collections.abc import Collection, Sequence
from itertools import combinations, pairwise

from raybench.statements import Statement
from raybench.tracking.text import short_name

TITLE = "What this run supports"
_NAMED = 6
"""Neighbours that are named; of more, how many there are."""
_LONG = 40


def orders(ranked: Sequence[str], sure: Collection[tuple[str, str]], how: str) -> str:
    """Return how many orders of two models hold, and which neighbours in rank are not told apart.

    `ranked` are models that have a number, best first; `sure` are pairs, the better first; `how`
    says by what they hold.
    """
    if len(ranked) < 2:
        return Statement(
            "orders.of_one",
            "With one model there is nothing to compare: see its number and interval.",
        )
    pairs = [*combinations(ranked, 2)]
    held = sum((one, two) in sure or (two, one) in sure for one, two in pairs)
    if not held:
        return Statement(
            "orders.none",
            "No two of the {models} models differ (criterion: {how}). The ranks above may be "
            "chance.",
            how=how,
            models=len(ranked),
        )
    if held == len(pairs) == 1:
        return Statement("orders.of_two", "The two models differ ({how}).", how=how)
    if held == len(pairs):
        return Statement(
            "orders.all",
            "All {held:,} pairs of models differ ({how}): the run supports the whole ranking.",
            held=held,
            how=how,
        )
    near = [it for it in pairwise(ranked) if it not in sure and it[::-1] not in sure]
    if not near:
        return Statement(
            "orders.neighbours",
            "{held:,} of {pairs:,} pairs of models {differ} ({how}), all pairs of "
            "neighbours among them. The ranks of the other pairs may be chance.",
            differ="differs" if held == 1 else "differ",
            held=held,
            pairs=len(pairs),
            how=how,
        )
    named = "; ".join(" and ".join(short_name(name, _LONG) for name in it) for it in near[:_NAMED])
    more = len(near) - _NAMED
    return Statement(
        "orders.some",
        "{held:,} of {pairs:,} pairs of models {differ} ({how}). The ranks of the other pairs may "
        "be chance, among them {open} of {neighbours} pairs of neighbours: {named}{more}.",
        differ="differs" if held == 1 else "differ",
        held=held,
        pairs=len(pairs),
        how=how,
        open=len(near),
        neighbours=len(ranked) - 1,
        named=named,
        more=f"; {more} more" if more > 0 else "",
    )
