"""Matches to read: a few of each game, chosen for what they show."""

from collections.abc import Callable, Iterator

from raybench import games
from raybench.experiments.games import transcripts
from raybench.experiments.games.report.shown import Shown
from raybench.tournament.records import Match
from raybench.tracking.report import Item, Section

_MOST = 6_000
"""Characters of one match."""


def sections(shown: Shown) -> Iterator[Section]:
    """Yield matches of each game as people write them down."""
    chosen = {
        number: why for game in shown.games for number, why in _chosen(shown.of(game)).items()
    }
    if not chosen:
        return
    items = {
        record["match"]: Item(
            f"{games.load(record['game']).title}, match {record['match']}: {record['outcome']}",
            {
                chosen[record["match"]]: transcripts.written(
                    record, shown.rules.get(record["game"], {})
                )[:_MOST]
            },
            group=games.load(record["game"]).title,
        )
        for record in transcripts.read(shown.journal)
        if record["match"] in chosen
    }
    yield Section(
        "Read them",
        f"{len(items)} of {len(shown.matches):,} matches; the folder transcripts/ has all of them, "
        "and the journal every prompt and reply.",
        items=[items[number] for number in chosen if number in items],
    )


def _chosen(matches: list[Match]) -> dict[int, str]:
    """Return the numbers of instructive matches of a game, and what each is shown for."""
    played = [match for match in matches if match.void is None]
    found: dict[int, str] = {}
    for why, measure in _EXTREMES.items():
        best = max(
            (it for it in played if it.number not in found and measure(it) is not None),
            key=lambda it: measure(it) or 0,
            default=None,
        )
        if best is not None:
            found[best.number] = why
    return found


def _length(match: Match) -> float | None:
    if match.forfeits:
        return None
    return float(sum(it.turns for it in match.efforts.values()))


def _shortness(match: Match) -> float | None:
    length = _length(match)
    return None if length is None else -length


def _forfeited(match: Match) -> float | None:
    return float(len(match.forfeits)) if match.forfeits else None


def _mistakes(match: Match) -> float | None:
    mistakes = sum(it.invalid for it in match.efforts.values())
    return float(mistakes) if mistakes and not match.forfeits else None


_EXTREMES: dict[str, Callable[[Match], float | None]] = {
    "the longest": _length,
    "the shortest": _shortness,
    "most mistakes without a forfeit": _mistakes,
    "a forfeit": _forfeited,
}
