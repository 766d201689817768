"""What a run supports, in words: which orders of models hold, and which are left open."""

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
            "Of a single model there is no order: its number and the interval say all.",
        )
    pairs = [*combinations(ranked, 2)]
    held = sum((one, two) in sure or (two, one) in sure for one, two in pairs)
    if not held:
        return Statement(
            "orders.none",
            "No order of two models holds ({how}): nobody can say from this run that one of these "
            "{models} is better than another. The places above are what chance left them in.",
            how=how,
            models=len(ranked),
        )
    if held == len(pairs) == 1:
        return Statement("orders.of_two", "The order of the two models holds ({how}).", how=how)
    if held == len(pairs):
        return Statement(
            "orders.all",
            "All {held:,} orders of two models hold ({how}), and so does the whole ranking.",
            held=held,
            how=how,
        )
    near = [it for it in pairwise(ranked) if it not in sure and it[::-1] not in sure]
    if not near:
        return Statement(
            "orders.neighbours",
            "{held:,} of {pairs:,} orders of two models hold ({how}). Every model is told apart "
            "from its neighbours in rank.",
            held=held,
            pairs=len(pairs),
            how=how,
        )
    named = "; ".join(" and ".join(short_name(name, _LONG) for name in it) for it in near[:_NAMED])
    more = len(near) - _NAMED
    return Statement(
        "orders.some",
        "{held:,} of {pairs:,} orders of two models hold ({how}). Not told apart are {open} of "
        "{neighbours} pairs of neighbours in rank: {named}{more}. Which of such two stands higher "
        "is no finding.",
        held=held,
        pairs=len(pairs),
        how=how,
        open=len(near),
        neighbours=len(ranked) - 1,
        named=named,
        more=f"; and {more} more" if more > 0 else "",
    )
