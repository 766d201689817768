"""How much a jury likes whom it reads first: an effect that the two orders of every vote cancel."""

from collections import defaultdict
from collections.abc import Iterable

from raybench.games.parts.contract import Unjudged
from raybench.games.parts.debate.missing import reasons
from raybench.games.parts.debate.verdict import votes
from raybench.stats import intervals
from raybench.types import Estimate


def first_is_better(moves: Iterable[str]) -> dict[str, Estimate]:
    """Return by how many points each juror scores who is read first higher, over debates.

    It takes the manager's moves of the debates. Votes that are missing say nothing; a juror that
    has no other is there, with its estimate refused.
    """
    found = defaultdict[str, list[float]](list)
    for move in moves:
        try:
            cast = votes(move)
        except Unjudged:
            cast = ()
        for juror in reasons(move):
            found[juror]  # also who has no vote in any
        for vote in cast:
            taste = vote.first_is_better
            found[vote.juror].extend([] if taste is None else [taste])
    return {juror: intervals.mean(tastes, over="debates") for juror, tastes in found.items()}
